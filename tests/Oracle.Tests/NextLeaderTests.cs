using GroupCore.Membership;

namespace Oracle.Tests;

/// <summary>
/// What a leader may do in the turn in which it begins. A member that is being excluded renewed its lease with the previous leader. The next leader does not know, so it
/// assumes that every process holds a lease (oracle.md#a-new-leader-takes-every-lease-as-held).
/// </summary>
public sealed class NextLeaderTests
{
    /// <summary>
    /// The exclusion is in the log of one voter only when its leader dies. That voter is elected, and is the only survivor of the group, so the commit of the exclusion, the
    /// proposal, the flush and its report all happen in one turn.
    /// </summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_leader_that_has_just_begun_waits_for_the_leases_that_its_predecessor_granted(bool assumes)
    {
        // Leases last far longer than an election.
        using var cluster = new OracleCluster(1, 4, without: assumes ? null : nameof(OracleRules.StrictPrimaryInherits), options: new() { LeaseDuration = TimeSpan.FromSeconds(2) });
        cluster[0].StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster[0].Oracle.State == MembershipState.Active, 3), cluster.Describe());
        for (int i = 1; i < 4; i++)
        {
            cluster[i].StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster[i].Oracle.State == MembershipState.Active, 3), cluster.Describe());
            cluster.Run(1);
        }
        var leader = cluster.Leader!;
        var voters = leader.Oracle.Replica!.Log.Entries.Configuration.Voters;
        Assert.Equal(3, voters.Count);
        var (next, other) = (Voter(0), Voter(1));
        var cutOff = cluster.Lives.Single(process => !voters.Any(voter => voter.Node == process.Node.Id));
        next.Groups.ReportsAtOnce = true;
        foreach (var member in (OracleCluster.Process[])[next, cutOff])
        {
            member.Node.Post(() => member.Oracle.Join("pair", new(), ""));
            Assert.True(cluster.RunUntil(() => member.Groups.ViewOf("pair") is not null && !member.Groups.IsWedged, 3), cluster.Describe());
        }
        Assert.True(cluster.RunUntil(() => next.Groups.ViewOf("pair")!.Members.Count == 2, 3), cluster.Describe());

        // From here on, the leader's decisions reach only one voter. The other member of the group reaches only the leader, and renews its lease there.
        var network = cluster.Simulation.Network;
        network.Cut(leader.Node, other.Node);
        foreach (var one in (OracleCluster.Process[])[next, other])
        {
            network.Cut(cutOff.Node, one.Node);
            network.Cut(one.Node, cutOff.Node);
        }
        foreach (var suspecting in (OracleCluster.Process[])[leader, next, other])
            suspecting.Node.Post(() => suspecting.Oracle.Suspect(cutOff.Oracle.Self, Suspicion.FlushStall));
        var log = next.Oracle.Replica!.Log;
        Assert.True(cluster.RunUntil(() => OracleSurface.Excludes(log), 5), cluster.Describe());
        leader.Node.Crash();
        Assert.True(cutOff.Oracle.LeaseUntil > cutOff.Node.Node.Now + Durations.Second, "the member that is excluded holds a lease");
        Assert.True(cluster.RunUntil(() => next.Groups.ViewOf("pair")!.Members.Count == 1, 6), cluster.Describe());
        cluster.Run(2);
        Assert.True(next.Groups.ReportedAtOnce > 0);
        Assert.Equal(!assumes, cluster.Checker.Violations.Exists(found => found.StartsWith("StrictPrimary", StringComparison.Ordinal)));

        OracleCluster.Process Voter(int which) => cluster.Lives.Single(process => process.Node.Id == voters.Where(voter => voter.Node != leader.Node.Id).ElementAt(which).Node);
    }
}
