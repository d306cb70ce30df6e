using GroupCore.Groups;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>A member that hears of a view late keeps its place, whatever the others send it in that view.</summary>
public sealed class LateViewTests
{
    [Theory, InlineData(1), InlineData(2), InlineData(3)]
    public void Answers_of_a_later_view_cost_the_asker_nothing(ulong seed)
    {
        const int queries = 20, bytes = 1_000_000;
        TaskCompletionSource[] gates = [new(), new(), new()];
        int joined = 0, right = 0;
        using var cluster = new GroupCluster(seed, 3, more: g =>
        {
            int me = joined++;
            g.OnQueryAsync<int, byte[]>("large", async (from, q) =>
            {
                if (me != 0) await gates[me].Task.ConfigureAwait(false);
                return QueryAnswer<byte[]>.Of(new byte[me == 1 ? bytes : 1]);
            });
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var asker = cluster[0];
        for (int i = 0; i < queries; i++)
        {
            _ = cluster.Simulation.Spawn(async () =>
            {
                var answers = await asker.Group!.QueryAsync<int, byte[]>("large", 1);
                right += answers.Count == 3 && answers.Sum(static a => a.Value.Length) == bytes + 2 ? 1 : 0;
            });
        }
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        cluster.ChangeViewWithout(asker);
        foreach (var gate in gates) cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        asker.Membership.Deaf = false;
        Assert.True(cluster.Simulation.RunUntil(() => right == queries || asker.Group!.Completion.IsCompleted, TimeSpan.FromSeconds(10)), $"{right} came");
        Assert.False(asker.Group!.Completion.IsCompleted);
        Assert.True(cluster.Settle());
        Assert.Null(cluster.Verdict());
    }

    [Theory, InlineData(1), InlineData(2), InlineData(3)]
    public void What_handlers_send_to_a_member_that_is_not_in_the_view_yet_waits_for_it(ulong seed)
    {
        const int messages = 60, bytes = 500_000;
        GroupCluster? all = null;
        int got = 0;
        using var cluster = new GroupCluster(seed, 3, beforeMembers: c => all = c, more: g => g
            .Handle<int>("burst", (from, to) =>
            {
                for (int i = 0; i < messages; i++) _ = all![1].Group!.SendToAsync<ReadOnlyMemory<byte>>(to, "large", new byte[bytes]).AsTask();
            })
            .HandleBytes("large", (from, m) => got++));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var late = cluster[0];
        cluster.ChangeViewWithout(late);
        int rank = cluster[1].Group!.CurrentView.RankOf(late.Id);
        _ = cluster.Simulation.Spawn(() => cluster[2].Group!.SendToAsync(cluster[1].Group!.Rank, "burst", rank).AsTask());
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        late.Membership.Deaf = false;
        Assert.True(cluster.Simulation.RunUntil(() => got == messages || late.Group!.Completion.IsCompleted, TimeSpan.FromSeconds(20)), $"{got} came");
        Assert.False(late.Group!.Completion.IsCompleted);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(0, cluster[1].Group!.Protocol.Peers.Outstanding);
        Assert.Null(cluster.Verdict());
    }

    [Theory, InlineData(1), InlineData(2), InlineData(3)]
    public void What_a_handler_of_a_crashed_members_message_sends_reaches_a_member_that_is_in_the_next_view_already(ulong seed)
    {
        GroupCluster? all = null;
        TaskCompletionSource[] gates = [new(), new()];
        var got = new List<int>();
        int work = 0;
        using var cluster = new GroupCluster(seed, 3, beforeMembers: c => all = c, more: g => g
            .HandleAsync<int>("work", async (from, number) =>
            {
                int gate = work++;
                await gates[gate].Task;
                _ = all![0].Group!.SendToAsync(all[0].Group!.CurrentView.RankOf(all[1].Id), "result", gate).AsTask();
            })
            .Handle<int>("result", (from, number) => got.Add(number)));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var (late, sender) = (cluster[0], cluster[2]);
        int to = late.Group!.Rank;
        for (int i = 0; i < 2; i++) _ = cluster.Simulation.Spawn(() => sender.Group!.SendToAsync(to, "work", 0).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        cluster.ChangeViewWithout(late, sender);
        foreach (var gate in gates)
        {
            cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        }
        late.Membership.Deaf = false;
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal([0, 1], got);
        Assert.Equal(0, late.Group.Protocol.Peers.Outstanding);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void A_member_that_was_overloaded_can_be_left_and_disposed_of()
    {
        using var cluster = new GroupCluster(4, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var (late, other) = (cluster[0], cluster[1]);
        cluster.ChangeViewWithout(late);
        var protocol = other.Group!.Protocol;
        int rank = protocol.View!.RankOf(late.Id);
        // Frames of a protocol above: more than a member keeps for a view that it has not installed.
        for (int i = 0; i < 20; i++)
        {
            other.SimNode.Post(() =>
            {
                protocol.Links.Frame(FrameType.FirstLayer, 1_000_000);
                protocol.Links.SendTo(rank);
            });
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        }
        late.End();
        var group = late.Group!;
        // These calls wait for the view that has not come yet.
        var calls = new List<Task>();
        foreach (var call in new Func<Task>[] { () => group.SendAsync("fifo", new ulong[600_000]).AsTask(), () => group.OrderedSendAsync("ordered", new ulong[2]).AsTask(), () => group.FlushAsync().AsTask(),
            () => group.QueryAsync<int, int>("ask", 1).AsTask() })
            cluster.Simulation.After(TimeSpan.Zero, () => calls.Add(call()));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        Assert.All(calls, static call => Assert.False(call.IsCompleted));
        late.Membership.Deaf = false;
        Assert.True(cluster.Simulation.RunUntil(() => group.Completion.IsCompleted, TimeSpan.FromSeconds(5)));
        Assert.IsType<GroupOverloadedException>(group.Completion.Exception?.InnerException);
        // Calls end as the class says they do.
        Assert.Equal(4, calls.Count);
        Assert.All(calls, static call => Assert.IsType<NotMemberException>(call.Exception?.InnerException));
        bool over = false;
        Exception? error = null;
        _ = cluster.Simulation.Spawn(async () =>
        {
            error = await Record.ExceptionAsync(() => group.LeaveAsync().AsTask()) ?? await Record.ExceptionAsync(() => group.DisposeAsync().AsTask());
            over = true;
        });
        Assert.True(cluster.Simulation.RunUntil(() => over, TimeSpan.FromSeconds(5)));
        Assert.Null(error);
    }
}
