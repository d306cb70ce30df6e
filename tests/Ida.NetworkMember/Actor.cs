using System.Diagnostics;
using System.Text.Json;
using GroupCore.Groups;
using GroupCore.Runtime;
using Ida.Testing.Workload;

namespace Ida.NetworkMember;

/// <summary>
/// Does again and again what only a member of the primary may do, and records each success with its view and time: strict reads, which a replica answers alone under its lease, and flushes, for which
/// all members of the view have to answer.
/// </summary>
internal sealed class Actor(IdaNode node, Group group, Dht dht, Stream acts, Func<bool> done)
{
    /// <summary>A map of its own: the history's final states have nothing of it.</summary>
    private const string Map = "acts";
    private const int Keys = 16;
    private static readonly TimeSpan s_pause = TimeSpan.FromMilliseconds(10), s_readTime = TimeSpan.FromMilliseconds(500), s_flushTime = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan s_flushPause = TimeSpan.FromMilliseconds(100);
    private readonly DhtMap<int, int> _map = dht.Map<int, int>(Map);
    private readonly Lock _lock = new();

    public static void Declare(DhtMaps maps)
    {
        HistoryWorkload.Declare(maps);
        maps.Map<int, int>(Map);
    }

    public Task RunAsync() => Task.WhenAll(ReadAsync(), FlushAsync());

    private async Task ReadAsync()
    {
        var options = new GetOptions { Level = ConsistencyLevel.Strict, Timeout = s_readTime };
        for (int key = 0; !done(); key = (key + 1) % Keys)
        {
            int next = key;
            await ActAsync("read", async () => await _map.GetAsync(next, options));
            await Task.Delay(s_pause);
        }
    }

    private async Task FlushAsync()
    {
        while (!done())
        {
            using var limit = new CancellationTokenSource(s_flushTime);
            await ActAsync("flush", async () => await group.FlushAsync(limit.Token));
            await Task.Delay(s_flushPause);
        }
    }

    private async Task ActAsync(string kind, Func<Task> act)
    {
        var (id, view, from) = (node.Id, group.CurrentView, Stopwatch.GetTimestamp());
        try
        {
            await act();
        }
        catch (Exception error) when (error is DhtException or OperationCanceledException or NotMemberException or ExcludedException or NodeStoppedException)
        {
            return;
        }
        long to = Stopwatch.GetTimestamp();
        // In which of two views it acted is not known from here.
        if (!ReferenceEquals(group.CurrentView, view) || node.Id != id) return;
        byte[] line = [.. JsonSerializer.SerializeToUtf8Bytes(new(id.ToString(), node.Address.Text, node.System.ToString(), view.Id, [.. view.Members.Select(static one => one.Id.ToString())], kind, from, to), ActJson.Default.Act), (byte)'\n'];
        lock (_lock) acts.Write(line);
    }
}
