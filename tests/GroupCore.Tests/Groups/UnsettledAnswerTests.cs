using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>Answers count in any view, even if they are held until it is known that their link is their member's.</summary>
public sealed class UnsettledAnswerTests
{
    private static void NextView(GroupCluster cluster)
    {
        ulong view = cluster[0].Group!.Protocol.View!.Id;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Members.TrueForAll(m => m.Group!.Protocol.View!.Id > view), TimeSpan.FromSeconds(5)));
    }

    [Fact]
    public void R_an_answer_that_waits_for_its_link_to_be_known_outlives_the_view_in_which_it_came()
    {
        using var cluster = new GroupCluster(1, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        // Neither of the two leads the flush, so it can do without the frames that are held.
        var (asker, other) = (cluster[1], cluster[2]);
        var end = asker.SimNode.Links.Ends.Single(end => end.Address == other.SimNode.Address && !end.IsOver);
        end.IsUnsettled = true;
        NextView(cluster);
        IReadOnlyList<MemberReply<int>>? answers = null;
        _ = cluster.Simulation.Spawn(async () => answers = await asker.Group!.QueryAsync<int, int>("ask", 41, Replies.All, Timeout.InfiniteTimeSpan));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Null(answers);
        NextView(cluster);
        asker.SimNode.Post(end.Settle);
        Assert.True(cluster.Simulation.RunUntil(() => answers is not null, TimeSpan.FromSeconds(5)));
        Assert.Equal([41, 42, 43], answers!.Select(static answer => answer.Value).Order());
        Assert.Null(cluster.Verdict());
    }
}
