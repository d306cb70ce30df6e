namespace GroupCore.Tests.Groups;

/// <summary>R13: what a handler of a point-to-point message sends is of the view of that message.</summary>
public sealed class NestedMessageTests
{
    private static void ChangeView(GroupCluster cluster)
    {
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Members.TrueForAll(static m => m.Group!.Protocol.IsWedged), TimeSpan.FromSeconds(5)));
    }

    [Fact]
    public void R13_what_a_handler_sends_in_the_midst_of_many_messages_is_of_their_view()
    {
        const int messages = 600, sending = 300;
        GroupCluster? all = null;
        var gate = new TaskCompletionSource();
        ulong handledIn = 0;
        using var cluster = new GroupCluster(111, 3, beforeMembers: c => all = c, more: g => g
            .HandleAsync<int>("work", async (from, number) =>
            {
                if (number == 0) await gate.Task.ConfigureAwait(false);
                if (number == sending) _ = all![1].Group!.SendToAsync(all[2].Group!.Rank, "nested", number).AsTask();
            })
            .Handle<int>("nested", (from, number) => handledIn = all![2].Group!.CurrentView.Id));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        ulong view = cluster[0].Group!.CurrentView.Id;
        int to = cluster[1].Group!.Rank;
        for (int i = 0; i < messages; i++)
        {
            int number = i;
            _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendToAsync(to, "work", number).AsTask());
        }
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        ChangeView(cluster);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => handledIn != 0, TimeSpan.FromSeconds(5)));
        Assert.Equal(view, handledIn);
        Assert.True(cluster.Settle());
        Assert.Null(cluster.Verdict());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R13_what_a_handler_sends_while_the_view_changes_is_of_the_view_that_ends(bool inline)
    {
        GroupCluster? all = null;
        ulong handledIn = 0;
        using var cluster = new GroupCluster(112, 3, beforeMembers: c => all = c, more: g =>
        {
            g.Handle<int>("work", (from, number) => _ = all![1].Group!.SendToAsync(all[2].Group!.Rank, "nested", number).AsTask())
                .Handle<int>("nested", (from, number) => handledIn = all![2].Group!.CurrentView.Id);
            if (inline) g.Inline();
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        ulong view = cluster[0].Group!.CurrentView.Id;
        int to = cluster[1].Group!.Rank;
        cluster.Simulation.Network.Cut(cluster[0].SimNode, cluster[1].SimNode);
        _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendToAsync(to, "work", 1).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        ChangeView(cluster);
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.Simulation.RunUntil(() => handledIn != 0, TimeSpan.FromSeconds(5)));
        Assert.Equal(view, handledIn);
        Assert.True(cluster.Settle());
        Assert.Null(cluster.Verdict());
    }
}
