namespace GroupCore.Tests.Groups;

/// <summary>No handler of a member begins after the member's end. The checker of this rule must find a member that breaks it, and no other.</summary>
public sealed class AfterEndTests
{
    private static readonly TimeSpan s_late = TimeSpan.FromSeconds(2);

    [Fact]
    public void A_member_that_was_told_that_it_has_left_and_goes_on_is_named()
    {
        using var cluster = new GroupCluster(1, 3);
        Assert.True(cluster.Settle());
        cluster[2].HasLeft();
        Send(cluster);
        Assert.Contains("acts after its end: message", cluster.Verdict(atRest: false), StringComparison.Ordinal);
    }

    [Fact]
    public void A_member_that_was_told_that_it_is_excluded_and_goes_on_is_named_a_second_later()
    {
        using var cluster = new GroupCluster(1, 3);
        Assert.True(cluster.Settle());
        cluster[2].Membership.Excluded!();
        Send(cluster);
        Assert.Empty(cluster.Violations);
        cluster.Simulation.Run(s_late);
        Send(cluster);
        Assert.Contains("acts after its end: message", cluster.Verdict(atRest: false), StringComparison.Ordinal);
    }

    [Fact]
    public void A_member_that_leaves_or_is_excluded_while_others_send_is_silent_from_then_on()
    {
        using var cluster = new GroupCluster(1, 4);
        Assert.True(cluster.Settle());
        _ = cluster.Simulation.Spawn(cluster[2].LeaveAsync);
        cluster.Oracle.Fail(cluster[3].Membership);
        for (int i = 0; i < 40; i++)
        {
            Send(cluster);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        }
        Assert.True(cluster[2].Ended && cluster[3].Ended);
        Assert.Null(cluster.Verdict());
    }

    private static void Send(GroupCluster cluster)
    {
        foreach (bool ordered in (ReadOnlySpan<bool>)[true, false]) _ = cluster.Simulation.Spawn(() => cluster[0].SendAsync(ordered));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
    }
}
