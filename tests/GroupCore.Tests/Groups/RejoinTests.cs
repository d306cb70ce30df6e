using GroupCore.Groups;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Views;

namespace GroupCore.Tests.Groups;

/// <summary>A process that joins a group again: at once, whatever its last membership still does, and without answers of that one.</summary>
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
        Assert.Empty(cluster.Oracle.Accusations);
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
}
