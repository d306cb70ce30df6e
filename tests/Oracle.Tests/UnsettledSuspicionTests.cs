using GroupCore.Membership;
using Oracle.Frames;

namespace Oracle.Tests;

/// <summary>Suspicions count only from the watchers of a process. A node that merely dialled in and says that it is one of them may be anybody.</summary>
public sealed class UnsettledSuspicionTests
{
    private const int Processes = 12;

    /// <summary>
    /// A replica that did not lead before has asked for few of the others. If it weighed what came over links that others dialled in the names of two watchers, then two
    /// refusals reported there would be proof of a death when its leadership begins.
    /// </summary>
    [Theory]
    [InlineData(true, false)]
    [InlineData(true, true)]
    [InlineData(false, false)]
    [InlineData(false, true)]
    public void What_a_leader_hears_over_links_of_which_nothing_says_whose_they_are_excludes_nobody(bool begun, bool settled)
    {
        using var cluster = new OracleCluster(1, Processes);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Lives.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        cluster.Run(3);
        var first = cluster.Leader!;
        first.Node.Crash();
        Assert.True(cluster.RunUntil(() => cluster.Alive.Any(process => process.Oracle.Replica is { Log.Leading: not null } replica && replica.Services.Active == begun), 5), cluster.Describe());
        var leader = cluster.Alive.Single(process => process.Oracle.Replica?.Log.Leading is not null);
        var (state, ring) = (leader.Oracle.Replica!.State, new Leading.MonitoringRing());
        var victim = cluster.Alive.First(process => process != leader && !leader.Oracle.Replica.Log.Entries.Configuration.Contains(process.Node.Id));
        var watchers = cluster.Alive.Where(process => process != leader && process != victim && ring.Watches(process.Oracle.Self, victim.Oracle.Self, state)).Take(2).ToList();
        var others = leader.Node.Links.Ends.Where(end => watchers.Exists(watcher => watcher.Node.Id == end.NodeId)).ToList();
        foreach (var end in others) end.IsUnsettled = !settled;
        leader.Node.Post(() =>
        {
            Assert.Equal(begun, leader.Oracle.Replica!.Services.Active);
            foreach (var watcher in watchers)
            {
                int peer = leader.Node.Links.Open(watcher.Node.Address, watcher.Node.Id);
                if (!settled) Assert.False(leader.Node.Node.Links.IsSettled(peer));
                leader.Oracle.Replica.Services.OnSuspect(peer, new Replica(watcher.Node.Id, watcher.Node.Address), new SuspectFrame(victim.Oracle.Self, false, Suspicion.Refused, 0));
            }
        });
        cluster.Run(0.1);
        foreach (var end in others) end.IsUnsettled = false;
        cluster.Run(5);
        Assert.Equal(settled, victim.Oracle.State == MembershipState.Excluded);
        cluster.AssertNoViolations();
    }

    /// <summary>The watcher repeats its suspicion, and is asked for meanwhile. The dead process is excluded all the same.</summary>
    [Fact]
    public void A_watcher_that_is_not_heard_at_first_is_heard_when_it_repeats_its_suspicion()
    {
        using var cluster = new OracleCluster(1, Processes);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Lives.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        cluster.Run(3);
        var leader = cluster.Leader!;
        var dead = cluster.Alive.First(process => process != leader && !leader.Oracle.Replica!.Log.Entries.Configuration.Contains(process.Node.Id));
        var self = dead.Oracle.Self;
        foreach (var end in leader.Node.Links.Ends) end.IsUnsettled = true;
        dead.Node.Crash();
        cluster.Run(0.4);
        Assert.True(leader.Oracle.Replica!.State.IsAlive(self));
        foreach (var end in leader.Node.Links.Ends) end.IsUnsettled = false;
        Assert.True(cluster.RunUntil(() => !leader.Oracle.Replica.State.IsAlive(self), 0.6), cluster.Describe());
        cluster.AssertNoViolations();
    }
}
