using GroupCore.Groups;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Views;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>A process that joins a group again may do so at once, whatever its last membership still does, and gets no answers meant for that one.</summary>
public sealed class RejoinTests
{
    [Fact]
    public void R4_a_join_cancelled_while_its_state_is_loaded_can_be_made_again_at_once()
    {
        GroupCluster? all = null;
        bool slow = false;
        using var cluster = new GroupCluster(71, 2, beforeMembers: c => all = c, tap: node =>
        {
            bool mine = slow;
            return new DelayingNode(all!.Simulation, node, work => mine && work is Dispatcher ? TimeSpan.FromSeconds(3) : TimeSpan.Zero);
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        slow = true;
        using var cancel = new CancellationTokenSource();
        var comer = cluster.Add(token: cancel.Token);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Member }], TimeSpan.FromSeconds(2)));
        cluster.Simulation.After(TimeSpan.Zero, cancel.Cancel);
        Assert.True(cluster.Simulation.RunUntil(() => comer.JoinError is OperationCanceledException, TimeSpan.FromSeconds(1)));
        Assert.Null(comer.Group);
        comer.JoinAgain();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null, TimeSpan.FromSeconds(60)), $"{comer.JoinError} {string.Join("; ", comer.Host.Groups)}");
        Assert.True(cluster.Settle());
        Assert.Equal(3, cluster[0].Group!.CurrentView.Members.Count);
        Assert.Empty(cluster.Oracle.Suspicions);
    }

    [Fact]
    public void R4_a_join_beside_a_leave_that_goes_on_waits_for_it()
    {
        using var cluster = new GroupCluster(72, 2);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Group? again = null;
        _ = cluster.Simulation.Spawn(async () =>
        {
            var leaving = cluster[1].LeaveAsync();
            again = await cluster[1].Host.JoinAsync("g", static g => g.Handle<ulong[]>("fifo", static (from, m) => { }));
            await leaving;
        });
        Assert.True(cluster.Simulation.RunUntil(() => again is not null, TimeSpan.FromSeconds(10)));
        Assert.Equal(2, again!.CurrentView.Members.Count);
    }

    [Fact]
    public void R5_an_answer_to_a_query_of_an_earlier_membership_is_not_taken_for_another()
    {
        var gate = new TaskCompletionSource();
        int joined = 0;
        using var cluster = new GroupCluster(73, 3, more: g =>
        {
            int me = joined++;
            g.OnQueryAsync<int, int>("late", async (from, question) =>
            {
                if (me == 1) await gate.Task.ConfigureAwait(false);
                return QueryAnswer<int>.Of(question);
            });
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var asker = cluster[2];
        _ = cluster.Simulation.Spawn(async () =>
        {
            await Assert.ThrowsAsync<NotMemberException>(() => asker.Group!.QueryAsync<int, int>("late", 1).AsTask());
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        var earlier = asker.Group!;
        _ = cluster.Simulation.Spawn(() => earlier.LeaveAsync().AsTask());
        Assert.True(cluster.Simulation.RunUntil(() => asker.Host.Groups.Count == 0, TimeSpan.FromSeconds(5)));
        asker.JoinAgain();
        Assert.True(cluster.Simulation.RunUntil(() => !ReferenceEquals(asker.Group, earlier), TimeSpan.FromSeconds(5)));
        int answer = 0;
        var rank = asker.Group!.CurrentView.RankOf(cluster[1].Id);
        _ = cluster.Simulation.Spawn(async () => answer = await asker.Group.QueryToAsync<int, int>(rank, "late", 2));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => answer != 0, TimeSpan.FromSeconds(5)));
        Assert.Equal(2, answer);
    }

    [Fact]
    public void R13_a_process_that_joins_while_the_last_member_leaves_founds_the_group_anew()
    {
        using var cluster = new GroupCluster(74, 1, more: g => g.OnViewProposed(static (proposal, context) => { }).OnError(static error => { }));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var first = cluster[0].Group!.Protocol;
        // A view change that is held up, so that the join and the leave come into the next one together.
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => !first.HooksEnded, TimeSpan.FromSeconds(1)));
        var comer = cluster.Add(static g => { });
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Oracle.Find("g")!.Queue.Count > 0, TimeSpan.FromSeconds(1)));
        _ = cluster.Simulation.Spawn(cluster[0].LeaveAsync);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null || comer.JoinError is not null, TimeSpan.FromSeconds(20)));
        Assert.Null(comer.JoinError);
        Assert.Equal([comer.Id], comer.Group!.CurrentView.Members.Select(static m => m.Id));
        Assert.Empty(cluster[0].Host.Groups);
    }

    [Fact]
    public void R14_nothing_is_kept_of_other_groups_when_a_join_is_refused()
    {
        using var cluster = new GroupCluster(75, 1);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Id: null }], TimeSpan.FromMilliseconds(10)));
        comer.SimNode.Post(() => Tell(comer.Host, slot: 7));
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.EarlyBytes > 0, TimeSpan.FromMilliseconds(1)));
        Assert.True(comer.Host.Bindings.Count > 0);
        comer.SimNode.Post(() => comer.Host.OnJoinRefused("g", "the test says so"));
        Assert.True(cluster.Simulation.RunUntil(() => comer.JoinError is not null, TimeSpan.FromSeconds(1)));
        Assert.Equal(0, comer.Host.EarlyBytes);
        Assert.Equal(0, comer.Host.Bindings.Count);
    }

    [Fact]
    public void R8_bindings_to_groups_that_are_none_here_are_not_kept()
    {
        using var cluster = new GroupCluster(76, 2);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var host = cluster[0].Host;
        int before = host.Bindings.Count;
        cluster[0].SimNode.Post(() =>
        {
            for (ushort slot = 100; slot < 2_000; slot++) Tell(host, slot);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.Equal(before, host.Bindings.Count);
    }

    /// <summary>A peer announces that a slot is a group's, and sends a frame of it.</summary>
    private static void Tell(GroupHost host, ushort slot)
    {
        byte[] frame = new byte[FrameHeader.Size + BindTable.Body];
        FrameHeader.Write(frame, FrameType.Bind, slot, 3, BindTable.Body);
        BindTable.Write(frame.AsSpan(FrameHeader.Size), new(4_711, 1), 3);
        Assert.True(FrameHeader.TryRead(frame, out var bind));
        host.OnFrame(9, bind, frame.AsSpan(FrameHeader.Size));
        FrameHeader.Write(frame, FrameType.Data, slot, 3, BindTable.Body);
        Assert.True(FrameHeader.TryRead(frame, out var data));
        host.OnFrame(9, data, frame.AsSpan(FrameHeader.Size));
    }
}
