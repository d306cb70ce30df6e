namespace Oracle.Tests;

/// <summary>A flush is over when its leader says so. Any other participant may not know what the others have.</summary>
public sealed class FlushLeaderTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void What_another_member_says_of_a_flush_neither_ends_the_group_nor_makes_it_the_only_holder(bool holdsItself)
    {
        for (ulong seed = 1; seed <= 5; seed++)
        {
            using var cluster = new OracleCluster(seed, 3);
            cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new(), ""));
            foreach (var process in cluster.Lives)
            {
                process.Groups.LongestDelay = 200 * Durations.Millisecond;
                process.StartAt(TimeSpan.Zero);
            }
            Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Alive.Count() == 3, 15), cluster.Describe());
            cluster.Run(3);
            var liar = cluster.Alive.Single(process => process.Groups.ViewOf("g")!.RankOf(process.Oracle.Self) == 2);
            var group = liar.Groups.ViewOf("g")!.Group;
            for (int i = 0; i < 3; i++)
            {
                liar.Node.Post(() => liar.Oracle.RequestView(group));
                Assert.True(cluster.RunUntil(() => liar.Groups.IsWedged, 2), cluster.Describe());
                var proposal = liar.Groups.Groups.Single().Wedge!;
                liar.Node.Post(() => liar.Oracle.CompleteView(group, proposal.BaseView, proposal.Number, holdsItself ? [liar.Oracle.Self] : []));
                Assert.True(cluster.RunUntil(() => cluster.Settled("g"), 5), cluster.Describe());
                var view = liar.Groups.ViewOf("g")!;
                Assert.Equal((group, proposal.Number), (view.Group, view.Proposal));
                Assert.All(view.Members, member => Assert.True(member.Initialised));
            }
            cluster.AssertNoViolations();
        }
    }
}
