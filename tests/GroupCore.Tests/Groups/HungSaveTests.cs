using System.Buffers;
using GroupCore.Groups;
using GroupCore.Groups.State;
using GroupCore.Groups.Views;

namespace GroupCore.Tests.Groups;

/// <summary>A snapshot whose writer hangs is given up even when its view is over, so it stands in the way of later ones for a bounded time.</summary>
public sealed class HungSaveTests
{
    private readonly List<WeakReference> _held = [];
    private int _writes;

    /// <summary>One member; its first few snapshots take hours to write, and joins wait a day for the state unless the test says otherwise.</summary>
    private GroupCluster Settled(ulong seed, int hang, TimeSpan? joinTimeout = null)
    {
        GroupCluster? all = null;
        var cluster = new GroupCluster(seed, 1, more: g => g.CheckpointSnapshot(Snapshot, static state => { }).OnError(static error => { }),
            tap: node => new DelayingNode(all!.Simulation, node, work => work is StateCut && ++_writes <= hang ? TimeSpan.FromHours(5) : TimeSpan.Zero),
            beforeMembers: c => (all, c.HostOptions) = (c, new() { JoinTimeout = joinTimeout ?? TimeSpan.FromHours(24) }));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    private static void RequestView(GroupCluster cluster) => cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);

    private static void ChangeViewsAsTwoHang(GroupCluster cluster, TestMember comer)
    {
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Loading }], TimeSpan.FromSeconds(5)));
        for (int i = 0; i < 3; i++)
        {
            RequestView(cluster);
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        }
    }

    [Theory]
    [InlineData(24 * 3_600)]
    [InlineData(20)]
    public void A_snapshot_in_line_behind_two_that_hang_is_written_once_they_are_given_up_and_its_join_waits(int joinTimeout)
    {
        using var cluster = Settled(1, hang: 2, TimeSpan.FromSeconds(joinTimeout));
        var comer = cluster.Add();
        ChangeViewsAsTwoHang(cluster, comer);
        Assert.Equal(2, _writes);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null || comer.JoinError is not null, TimeSpan.FromSeconds(70)));
        Assert.Null(comer.JoinError);
    }

    [Fact]
    public void Two_that_hang_are_in_the_way_of_no_join_after_them()
    {
        using var cluster = Settled(2, hang: 2, joinTimeout: TimeSpan.FromSeconds(20));
        using var cancel = new CancellationTokenSource();
        var comer = cluster.Add(token: cancel.Token);
        ChangeViewsAsTwoHang(cluster, comer);
        cluster.Simulation.After(TimeSpan.Zero, cancel.Cancel);
        Assert.True(cluster.Simulation.RunUntil(() => comer.JoinError is not null && cluster.Oracle.Find("g")!.Members.Count == 1, TimeSpan.FromSeconds(5)));
        Group? before = null;
        for (int i = 0; i < 2; i++)
        {
            comer.JoinAgain();
            Assert.True(cluster.Simulation.RunUntil(() => comer.Group != before || comer.JoinError is not null, TimeSpan.FromSeconds(100)));
            Assert.True(comer.JoinError is null, $"join {i}: {comer.JoinError}");
            var group = before = comer.Group!;
            _ = cluster.Simulation.Spawn(() => group.LeaveAsync().AsTask());
            Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups.Count == 0, TimeSpan.FromSeconds(10)));
        }
    }

    [Theory]
    [InlineData("a view without joiners")]
    [InlineData("the end of the membership")]
    public void A_snapshot_in_line_holds_nothing_on_to_when_nobody_waits_for_it(string then)
    {
        using var cluster = Settled(5, hang: 2);
        var comer = cluster.Add();
        ChangeViewsAsTwoHang(cluster, comer);
        var inLine = _held[^1];
        Assert.True(IsHeld(inLine));
        if (then == "a view without joiners") cluster.Oracle.Fail(comer.Membership);
        else cluster.Oracle.Fail(cluster[0].Membership);
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        Assert.False(IsHeld(inLine));
    }

    private static bool IsHeld(WeakReference state)
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        return state.IsAlive;
    }

    private Action<IBufferWriter<byte>> Snapshot()
    {
        byte[] state = [1];
        _held.Add(new(state));
        return to => to.Write(state);
    }

    [Theory]
    [InlineData(2)]
    [InlineData(int.MaxValue)]
    public void Views_that_come_faster_than_writers_are_given_up_keep_no_join_waiting_for_ever(int hang)
    {
        using var cluster = Settled(3, hang);
        var comer = cluster.Add();
        for (int i = 0; i < 20 && comer.Group is null && comer.JoinError is null; i++)
        {
            RequestView(cluster);
            cluster.Simulation.Run(TimeSpan.FromSeconds(30));
        }
        if (hang > 2) Assert.IsType<JoinRefusedException>(comer.JoinError);
        else Assert.True(comer.Group is not null || comer.JoinError is not null);
    }

    [Fact]
    public void Views_that_come_while_a_handler_of_the_giver_hangs_are_no_progress_of_a_join()
    {
        var gate = new TaskCompletionSource();
        using var cluster = new GroupCluster(4, 1, more: g => g.HandleAsync<int>("hang", async (from, m) => await gate.Task.ConfigureAwait(false)),
            beforeMembers: static c => c.HostOptions = new() { JoinTimeout = TimeSpan.FromSeconds(20) });
        Assert.True(cluster.Settle());
        _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendAsync("hang", 0).AsTask());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var comer = cluster.Add();
        for (int i = 0; i < 5; i++)
        {
            cluster.Simulation.Run(TimeSpan.FromSeconds(6));
            RequestView(cluster);
        }
        Assert.IsType<JoinTimeoutException>(comer.JoinError);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
    }
}
