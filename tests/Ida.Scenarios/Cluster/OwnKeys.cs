using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Workload;

namespace Ida.Scenarios;

/// <summary>
/// Judges what a member at rest is told of its own keys. Nobody else writes them, so a put that expects the version just read must be applied, and one that expects another
/// version must not. For calls that tell no version, refusals are judged only here.
/// </summary>
internal static class OwnKeys
{
    private const string Map = "own keys";

    // Enough for both shards to have some.
    private const int Keys = 4;
    private static readonly PutOptions s_put = new() { Timeout = TimeSpan.FromSeconds(5) };
    private static readonly GetOptions s_get = new() { Timeout = TimeSpan.FromSeconds(5) };

    /// <summary>Declares the maps of the workload, and the one for these keys.</summary>
    public static void Declare(DhtMaps maps)
    {
        HistoryWorkload.Declare(maps);
        maps.Map<string, string>(Map);
    }

    /// <summary>Has the member write its own keys, on conditions that hold and on others; throws if an answer is wrong.</summary>
    /// <param name="calls">Keeps the calls.</param>
    /// <param name="member">The member.</param>
    /// <param name="dht">Its DHT.</param>
    /// <param name="owner">Whose keys they are; null: the member's.</param>
    public static async Task JudgeAsync(CallLedger calls, SimMember member, Dht dht, string? owner = null)
    {
        var map = dht.Map<string, string>(Map);
        for (int i = 0; i < Keys; i++)
        {
            string key = $"{owner ?? member.ToString()}.{i}";
            await Put(async () => await map.PutAsync(key, "put", s_put));
            ulong put = await VersionAsync(key);
            Judge(await Put(() => map.TryReplaceAsync(key, "replaced", put, s_put).AsTask()), true, "a replacement of the version just read");
            Judge(await Put(() => map.TryReplaceAsync(key, "late", put, s_put).AsTask()), false, "a replacement of a version that is gone");
            Judge(await Put(() => map.TryAddAsync(key, "late", s_put).AsTask()), false, "an addition of what is there");
            ulong replaced = await VersionAsync(key);
            Judge((await Put(() => dht.NewBatch(s_put).Expect(map, key, replaced).Put(map, key, "batch").CommitAsync().AsTask())).IsApplied, true, "a batch that expects the version just read");
            Judge(await Put(() => map.TryRemoveAsync(key, replaced, s_put).AsTask()), false, "a removal of a version that is gone");
            ulong last = await VersionAsync(key);
            Judge(await Put(() => map.TryRemoveAsync(key, last, s_put).AsTask()), true, "a removal of the version just read");
            Judge(await Put(() => map.TryAddAsync(key, "added", s_put).AsTask()), true, "an addition of what was removed");

            void Judge(bool applied, bool expected, string what)
            {
                if (applied != expected) throw new ScenarioFailedException($"{member} was told at rest that {what} of {key}, which nobody else writes, is {(applied ? "applied" : "not applied")}.");
            }
        }

        Task<T> Put<T>(Func<Task<T>> call) => calls.Begin(CallKind.Put, $"{member} of its own keys", call, member.Host, s_put.Timeout, timeout: s_put.Timeout);

        async Task<ulong> VersionAsync(string key) => (await calls.Begin(CallKind.Get, $"{member} of its own keys", () => map.GetAsync(key, s_get).AsTask(), member.Host, s_get.Timeout, timeout: s_get.Timeout)).Version;
    }
}
