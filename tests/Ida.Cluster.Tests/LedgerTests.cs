using Ida.Testing;
using Ida.Testing.Calls;

namespace Ida.Cluster.Tests;

/// <summary>A run fails for what its ledger of calls has found, even if nothing else in it failed.</summary>
public sealed class LedgerTests
{
    private static readonly TimeSpan s_second = TimeSpan.FromSeconds(1);

    [Fact]
    public void What_calls_must_not_do_fails_a_run_of_a_dht() => Assert.Contains("done wrong", MessageOf(static dht => dht.Calls.Accuse("done wrong")), StringComparison.Ordinal);

    [Fact]
    public void An_error_that_ended_a_call_fails_a_run_of_a_dht_at_once()
    {
        var failure = FailureOf(static dht => dht.Calls.Begin(CallKind.Status, "nobody", static () => Task.FromException(new TimeoutException())));
        Assert.Contains("the guide does not say", Assert.IsType<InvariantViolatedException>(failure).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_call_that_is_late_fails_a_run_of_a_dht() =>
        Assert.Contains("is open after", MessageOf(static dht => dht.Calls.Begin(CallKind.Status, "nobody", static () => new TaskCompletionSource().Task, dht.Members[0].Host, TimeSpan.FromMilliseconds(1))), StringComparison.Ordinal);

    [Fact]
    public void A_call_that_is_open_in_the_end_fails_a_run_of_a_dht() =>
        Assert.Contains("is still open at the end", MessageOf(static dht => dht.Calls.Begin(CallKind.Status, "nobody", static () => new TaskCompletionSource().Task, dht.Members[0].Host)), StringComparison.Ordinal);

    [Fact]
    public void What_a_pause_takes_is_not_time_of_the_calls_at_its_node()
    {
        using var simulation = new Simulation(1);
        ICaller caller = simulation.AddNode();
        var node = simulation.Nodes[0];
        var begun = caller.Clock;
        node.Pause(10 * s_second);
        simulation.Run(s_second);
        Assert.InRange((caller.Clock - begun).TotalSeconds, -0.2, 0.2);
        simulation.Run(10 * s_second);
        Assert.InRange((caller.Clock - begun).TotalSeconds, 0.8, 1.2);
        // Two pauses at once last as long as the longer one.
        node.Pause(2 * s_second);
        node.Pause(5 * s_second);
        simulation.Run(6 * s_second);
        Assert.InRange((caller.Clock - begun).TotalSeconds, 1.8, 2.2);
    }

    private static string MessageOf(Action<DhtCluster> misdeed) => FailureOf(misdeed)?.Message ?? "";

    private static Exception? FailureOf(Action<DhtCluster> misdeed)
    {
        using var simulation = new Simulation(1);
        var dht = new DhtCluster(simulation);
        return Record.Exception(() => dht.Run(5, async () =>
        {
            misdeed(dht);
            await simulation.Delay(3 * s_second);
        }));
    }
}
