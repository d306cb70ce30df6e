using GroupCore.Groups;
using GroupCore.Groups.PointToPoint;

namespace GroupCore.Tests.Groups;

/// <summary>R13: what a handler of a point-to-point message sends belongs to the view of that message.</summary>
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

    /// <summary>There are more rounds than messages that handlers may have under way to one receiver.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Handlers_that_answer_each_other_for_ever_have_little_under_way(bool inline)
    {
        const int rounds = GroupLimits.HandlersCalls + 2_000;
        GroupCluster? all = null;
        int got = 0, most = 0, late = 0;
        using var cluster = new GroupCluster(113, 2, beforeMembers: c => all = c, more: g =>
        {
            g.Handle<int>("ping", (from, number) => _ = all![1].Group!.SendToAsync(from.Rank, "pong", number).AsTask())
                .Handle<int>("pong", (from, number) =>
                {
                    got++;
                    most = Math.Max(most, all![0].Group!.Protocol.Peers.Outstanding);
                    if (got > Handling.LastDepth) late = Math.Max(late, all[0].Group!.Protocol.Peers.Outstanding);
                    if (number < rounds) _ = all[0].Group!.SendToAsync(from.Rank, "ping", number + 1).AsTask();
                });
            if (inline) g.Inline();
        });
        Assert.True(cluster.Settle());
        _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendToAsync(cluster[1].Group!.Rank, "ping", 1).AsTask());
        Assert.True(cluster.Simulation.RunUntil(() => got == rounds, TimeSpan.FromMinutes(10)), $"{got} rounds");
        Assert.InRange(most, 1, Handling.LastDepth + 1);
        // Each acknowledgement came with the answer; a separate one would wake the other side once more per round.
        Assert.InRange(late, 0, 2);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.All(cluster.Members, static member => Assert.Equal(0, member.Group!.Protocol.Peers.Outstanding));
        Assert.Null(cluster.Verdict());
    }

    /// <summary>What handlers send while the view changes belongs to the view that ends. So their exchange has to end, and it does where the bound refuses a message.</summary>
    [Fact]
    public void A_view_change_amid_handlers_that_answer_each_other_for_ever_comes_to_its_end()
    {
        GroupCluster? all = null;
        int refused = 0;
        void Send(int by, int to, string handler)
        {
            try
            {
                _ = all![by].Group!.SendToAsync(to, handler, 0).AsTask();
            }
            catch (SendQueueFullException)
            {
                refused++;
            }
        }
        using var cluster = new GroupCluster(114, 2, beforeMembers: c => all = c, more: g => g
            .Handle<int>("ping", (from, number) => Send(1, from.Rank, "pong"))
            .Handle<int>("pong", (from, number) => Send(0, from.Rank, "ping")));
        Assert.True(cluster.Settle());
        _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendToAsync(cluster[1].Group!.Rank, "ping", 0).AsTask());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        ulong view = cluster[0].Group!.CurrentView.Id;
        ChangeView(cluster);
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Members.TrueForAll(m => m.Group!.CurrentView.Id > view), TimeSpan.FromMinutes(10)));
        Assert.Equal(1, refused);
        Assert.Equal(2, cluster[0].Group!.CurrentView.Members.Count);
        Assert.Null(cluster.Verdict());
    }

    /// <summary>All these messages end in one turn.</summary>
    [Fact]
    public void A_view_change_amid_a_handler_that_sends_to_itself_for_ever_needs_little_stack()
    {
        Exception? error = null;
        var thread = new Thread(() => error = Record.Exception(SendToItself), 512 << 10);
        thread.Start();
        thread.Join();
        Assert.Null(error);
    }

    private static void SendToItself()
    {
        GroupCluster? all = null;
        int refused = 0;
        using var cluster = new GroupCluster(115, 1, beforeMembers: c => all = c, more: g => g.Handle<int>("tick", (from, number) =>
        {
            try
            {
                _ = all![0].Group!.SendToAsync(from.Rank, "tick", 0).AsTask();
            }
            catch (SendQueueFullException)
            {
                refused++;
            }
        }));
        Assert.True(cluster.Settle());
        _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendToAsync(0, "tick", 0).AsTask());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        ulong view = cluster[0].Group!.CurrentView.Id;
        ChangeView(cluster);
        Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.CurrentView.Id > view, TimeSpan.FromMinutes(10)));
        Assert.Equal(1, refused);
        Assert.Null(cluster.Verdict());
    }
}
