using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Cluster.Tests;

/// <summary>Checks of a cluster at rest beyond what nodes keep: the only client of a key is not refused, no node ends, no handler runs after its member has ended.</summary>
public sealed class AtRestCallTests
{
    private static readonly TimeSpan s_second = TimeSpan.FromSeconds(1);

    [Fact]
    public void A_member_that_writes_keys_of_its_own_is_refused_only_because_of_its_own_writes() => Run(async dht =>
    {
        await OwnKeys.JudgeAsync(dht.Calls, dht.Members[0], dht[0]);
        await OwnKeys.JudgeAsync(dht.Calls, dht.Members[1], dht[1]);
    });

    [Fact]
    public void A_refusal_for_what_another_wrote_is_named() => Run(async dht =>
    {
        bool over = false;
        var others = dht.Simulation.Spawn(async () =>
        {
            var map = dht[1].Map<string, string>("own keys");
            while (!over)
            {
                await map.PutAsync($"{dht.Members[0]}.0", "another's");
                await dht.Simulation.Delay(TimeSpan.FromMicroseconds(200));
            }
        });
        var failure = await FailureOf(() => OwnKeys.JudgeAsync(dht.Calls, dht.Members[0], dht[0]));
        over = true;
        await others;
        Assert.Contains("is not applied", Assert.IsType<ScenarioFailedException>(failure).Message, StringComparison.Ordinal);
    });

    /// <summary>A conditional put that is refused has read its key: what it found goes into the history as a read.</summary>
    [Fact]
    public void What_a_refused_condition_found_is_in_the_history()
    {
        using var simulation = new Simulation(1);
        var dht = new DhtCluster(simulation, new() { Conditions = 0.8, ValueKeys = 2, Reads = 0.3 });
        dht.Run(5, () => simulation.Delay(2 * s_second)).ThrowIfFailed();
        var found = dht.Recorder.ToHistory().Operations.Where(static one => one.Client.EndsWith('f') && one.Outcome == OperationOutcome.Ok).ToList();
        Assert.True(found.Count > 10, $"{found.Count} refusals were recorded");
        Assert.All(found, static one => Assert.True(one is { Reads: [{ Version: > 0 } or { Value.IsAbsent: true }], Writes.Count: 0 }));
    }

    [Fact]
    public void A_node_that_ends_at_rest_is_named()
    {
        using var simulation = new Simulation(1);
        var cluster = new SimCluster(simulation);
        simulation.RunAsync(async () =>
        {
            for (int i = 0; i < 4; i++) await cluster.StartAsync();
            simulation.After(10 * s_second, () => cluster.Members[3].Host.Crash());
            // With settled: false a node may still end, once, because of what happened before the rest.
            await Leftovers.RestLongAsync(simulation, settled: false);
            simulation.After(10 * s_second, () => cluster.Members[2].Host.Crash());
            var failure = await FailureOf(() => Leftovers.RestLongAsync(simulation, settled: true));
            Assert.Contains($"{cluster.Members[2]} has ended while all were at rest", Assert.IsType<ScenarioFailedException>(failure).Message, StringComparison.Ordinal);
            await Leftovers.RestLongAsync(simulation, settled: true);
        }, TimeSpan.FromMinutes(30));
    }

    [Theory]
    [InlineData(0, false)]
    [InlineData(2, true)]
    public void A_member_whose_handlers_go_on_after_its_end_is_named(int seconds, bool named)
    {
        using var simulation = new Simulation(1);
        var cluster = new SimCluster(simulation);
        var checker = new VirtualSynchronyChecker(new() { StatesAgree = true });
        var calls = new CallLedger(() => simulation.Now);
        simulation.RunAsync(async () =>
        {
            var members = new List<WatchedMember>();
            for (int i = 0; i < 3; i++)
            {
                members.Add(new(checker, calls, await cluster.StartAsync()));
                await members[i].JoinAsync();
            }
            // As if the member had been told that it is excluded.
            members[2].End();
            await simulation.Delay(seconds * s_second);
            await members[0].SendAsync(1, ordered: true);
            await simulation.Delay(TimeSpan.FromMilliseconds(100));
        }, TimeSpan.FromMinutes(5));
        Assert.Equal(named, checker.ToString().Contains("it acts after its end", StringComparison.Ordinal));
    }

    private static async Task<Exception?> FailureOf(Func<Task> body)
    {
        try
        {
            await body();
            return null;
        }
        catch (ScenarioFailedException failure)
        {
            return failure;
        }
    }

    private static void Run(Func<DhtCluster, Task> body)
    {
        using var simulation = new Simulation(1);
        var dht = new DhtCluster(simulation);
        dht.Run(5, () => body(dht)).ThrowIfFailed();
    }
}
