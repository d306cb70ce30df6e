using System.Buffers.Binary;
using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Multicast;
using GroupCore.Groups.State;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>A joiner whose load takes long is not slow, and costs the others nothing until what it may hold is used up.</summary>
public sealed class LoadingJoinerTests
{
    private static readonly GroupOptions s_evicts = new() { SlowMember = SlowMember.Evict, SlowMemberTimeout = TimeSpan.FromSeconds(5) };

    private readonly List<int> _delivered = [0, 0, 0];
    private int _sent;

    /// <summary>
    /// Two members, whose giver saves for this long, and a joiner. The joiner's handlers may begin late, and there may be pauses between the turns in which it delivers what it
    /// held.
    /// </summary>
    private (GroupCluster Cluster, TestMember Comer) Loading(ulong seed, int savesFor, GroupOptions options, GroupHostOptions? host = null, int handlersBeginAfter = 0, int secondsBetweenTurns = 0)
    {
        GroupCluster? all = null;
        int nodes = 0, joined = 0, takes = 0;
        var simulation = new Simulation(new SimulationOptions { Seed = seed, ReplayCommand = $"seed {seed}" });
        var cluster = new GroupCluster(simulation, 2, options: options, beforeMembers: c => all = c,
            more: g =>
            {
                int me = joined++;
                g.HandleBytes("bytes", (from, bytes) => _delivered[me]++).OnError(static error => { });
            },
            tap: node =>
            {
                bool comes = ++nodes == 3;
                return new DelayingNode(simulation, node, work => work is StateCut ? TimeSpan.FromSeconds(takes) : comes && work is Dispatcher ? TimeSpan.FromSeconds(handlersBeginAfter) : TimeSpan.Zero,
                    target => TimeSpan.FromSeconds(comes && target is ViewMulticast ? secondsBetweenTurns : 0));
            });
        Assert.True(cluster.Settle());
        simulation.Run(TimeSpan.FromSeconds(1));
        takes = savesFor;
        var comer = cluster.Add(host: host);
        Assert.True(simulation.RunUntil(() => comer.Host.Groups is [{ Phase: GroupPhase.Loading }] && all!.Usable.TrueForAll(static m => m.Group!.CurrentView.Members.Count == 3), TimeSpan.FromSeconds(5)));
        return (cluster, comer);
    }

    /// <summary>A giver that is silent in one view has failed once, however long no other view comes. The join timeout covers that case.</summary>
    [Fact]
    public void A_join_whose_giver_is_silent_while_no_view_comes_waits_for_its_timeout()
    {
        var (cluster, comer) = Loading(9, savesFor: 600, new(), new() { Serializer = ContractSerializer.Instance, JoinTimeout = TimeSpan.FromSeconds(40) });
        using var _ = cluster;
        // No view is decided any more, and nothing from the giver arrives.
        cluster.Oracle.Loss = 1;
        foreach (var giver in cluster.Members.Where(member => member != comer)) cluster.Simulation.Network.Cut(giver.SimNode, comer.SimNode);
        cluster.Simulation.Run(TimeSpan.FromSeconds(35));
        Assert.Null(comer.JoinError);
        Assert.True(cluster.Simulation.RunUntil(() => comer.JoinError is not null, TimeSpan.FromSeconds(20)));
        Assert.IsType<JoinTimeoutException>(comer.JoinError);
    }

    /// <summary>Each of many short views may bring the beginning of a large state.</summary>
    [Fact]
    public void What_came_of_a_state_in_a_view_that_is_over_is_held_by_nobody()
    {
        using var cluster = new GroupCluster(10, 2);
        Assert.True(cluster.Settle());
        var begun = Begun(cluster[1].Group!.Protocol);
        GC.Collect();
        Assert.False(begun.TryGetTarget(out _));
    }

    // A method of its own, so that the frame of the test does not hold the loader.
    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    private static WeakReference<StateLoader> Begun(GroupProtocol group)
    {
        var loader = new StateLoader(group, group.View!, 1 << 20);
        byte[] length = new byte[8];
        BinaryPrimitives.WriteInt64LittleEndian(length, 1 << 20);
        loader.OnFrame(group.View!.Coordinator, FrameType.StateOpen, length);
        loader.Close();
        return new(loader);
    }

    private void Send(GroupCluster cluster, int member, int messages, int bytes, bool ordered)
    {
        byte[] payload = new byte[bytes];
        for (int i = 0; i < messages; i++)
        {
            _ = cluster.Simulation.Spawn(async () =>
            {
                var group = cluster[member].Group!;
                await (ordered ? group.OrderedSendAsync<ReadOnlyMemory<byte>>("bytes", payload) : group.SendAsync<ReadOnlyMemory<byte>>("bytes", payload));
                _sent++;
            });
        }
    }

    [Theory]
    [InlineData(SlowMember.Evict)]
    [InlineData(SlowMember.Block)]
    public void R_the_others_go_on_while_a_joiner_loads_for_long_and_nobody_is_slow(SlowMember policy)
    {
        var (cluster, comer) = Loading(61, 40, s_evicts with { SlowMember = policy });
        using var closing = cluster;
        for (int second = 0; second < 30; second++)
        {
            Send(cluster, 0, 500, 1_000, ordered: false);
            Send(cluster, 1, 500, 20, ordered: true);
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        }
        Assert.Equal(30_000, _sent);
        Assert.Equal([30_000, 30_000, 0], _delivered);
        Assert.Equal(GroupPhase.Loading, comer.Host.Groups[0].Phase);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null && _delivered[2] == 30_000, TimeSpan.FromSeconds(20)), $"{_delivered[2]} delivered {comer.JoinError}");
        Assert.True(cluster.Settle());
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void R_what_a_joiner_holds_is_bounded_and_beyond_it_senders_wait_for_its_load()
    {
        var (cluster, comer) = Loading(62, 40, s_evicts, new() { MaxJoinBacklogBytes = 4 << 20 });
        using var closing = cluster;
        for (int i = 0; i < 2; i++) Send(cluster, i, 15_000, 1_000, ordered: i == 1);
        cluster.Simulation.Run(TimeSpan.FromSeconds(30));
        // The budget, and a window of each of two senders.
        Assert.InRange(_delivered[0], 4_000, 3 * 4_200);
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null && _delivered[2] == 30_000, TimeSpan.FromSeconds(30)), $"{_delivered[2]} delivered {comer.JoinError}");
        Assert.True(cluster.Settle());
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void R_a_view_change_amid_a_load_loses_nothing_of_what_the_joiner_holds_for_it()
    {
        var (cluster, comer) = Loading(63, 20, s_evicts);
        using var closing = cluster;
        Send(cluster, 0, 10_000, 1_000, ordered: false);
        Send(cluster, 1, 20_000, 20, ordered: true);
        cluster.Simulation.Run(TimeSpan.FromSeconds(10));
        Assert.Equal([30_000, 30_000, 0], _delivered);
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Send(cluster, 1, 1_000, 20, ordered: true);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null && _delivered[2] == 1_000, TimeSpan.FromSeconds(30)), $"{_delivered[2]} delivered {comer.JoinError}");
        Assert.True(cluster.Settle());
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Null(cluster.Verdict());
    }

    [Theory]
    [InlineData(66, false)]
    [InlineData(67, true)]
    public void R_what_a_joiner_held_is_delivered_in_turns_of_a_bounded_size_though_the_view_changes_meanwhile(ulong seed, bool views)
    {
        var (cluster, comer) = Loading(seed, 20, s_evicts);
        using var closing = cluster;
        var group = comer.Host.Groups[0];
        long before = 0, most = 0;
        cluster.Simulation.AddInvariant("turns", () =>
        {
            most = Math.Max(most, group.Dispatcher.Added - before);
            before = group.Dispatcher.Added;
            return null;
        });
        // In parts, since a node takes at most 16,384 commands at once.
        for (int i = 0; i < 5; i++)
        {
            Send(cluster, 0, 2_000, 1_000, ordered: false);
            Send(cluster, 1, 4_000, 20, ordered: true);
            cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        }
        Send(cluster, 0, 20, 500_000, ordered: true);
        Assert.True(cluster.Simulation.RunUntil(() => group.Phase == GroupPhase.Member, TimeSpan.FromSeconds(30)));
        if (views) cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null && _delivered[2] == 30_020, TimeSpan.FromSeconds(30)), $"{_delivered[2]} delivered {comer.JoinError}");
        // A few more of them may be new.
        Assert.InRange(most, 1_000, GroupLimits.CatchUpMessages + 100);
        Assert.True(cluster.Settle());
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Null(cluster.Verdict());
    }

    /// <summary>The joiner acknowledged all that it held before it delivered it, and acknowledges nothing while it catches up.</summary>
    [Fact]
    public void What_a_joiner_has_caught_up_with_is_dropped_before_more_comes_of_its_sender()
    {
        var (cluster, comer) = Loading(70, 20, s_evicts);
        using var closing = cluster;
        var group = comer.Host.Groups[0];
        for (int i = 0; i < 5; i++)
        {
            Send(cluster, 0, 6_000, 20, ordered: false);
            cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        }
        Assert.True(cluster.Simulation.RunUntil(() => group.Phase == GroupPhase.Member && !group.Multicast.IsCatchingUp, TimeSpan.FromSeconds(30)));
        Send(cluster, 0, 1, 20, ordered: false);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        Assert.Equal(0, comer.SimNode.Node.Counters.Refused(RefusalReason.Unexpected));
        Assert.Equal(30_001, _delivered[2]);
        Assert.True(cluster.Settle());
        Assert.Null(cluster.Verdict());
    }

    [Theory]
    [InlineData(SlowMember.Evict, false)]
    [InlineData(SlowMember.Evict, true)]
    [InlineData(SlowMember.Block, false)]
    public void A_joiner_that_takes_long_to_deliver_what_it_held_is_not_silent_in_a_view_change(SlowMember policy, bool toItself)
    {
        var (cluster, comer) = Loading(68, 20, s_evicts with { SlowMember = policy }, secondsBetweenTurns: 1);
        using var closing = cluster;
        var group = comer.Host.Groups[0];
        // In parts, since a node takes at most 16,384 commands at once.
        for (int i = 0; i < 5; i++)
        {
            for (int member = 0; member < 2; member++) Send(cluster, member, 5_000, 20, ordered: member == 1);
            cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        }
        Assert.True(cluster.Simulation.RunUntil(() => group.Phase == GroupPhase.Member, TimeSpan.FromSeconds(30)));
        // This message waits behind what the joiner held.
        if (toItself) _ = cluster.Simulation.Spawn(() => ((Group)group.Facade).SendToAsync<ReadOnlyMemory<byte>>(group.Rank, "bytes", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        cluster.Simulation.Run(TimeSpan.FromSeconds(9));
        Assert.True(group.IsWedged && group.Multicast.IsCatchingUp);
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.True(cluster.Simulation.RunUntil(() => comer.Group is not null && _delivered[2] == (toItself ? 50_001 : 50_000), TimeSpan.FromSeconds(30)), $"{_delivered[2]} delivered {comer.JoinError}");
        Assert.True(cluster.Settle());
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Null(cluster.Verdict());
    }

    [Theory]
    [InlineData(SlowMember.Evict)]
    [InlineData(SlowMember.Block)]
    public void R_a_load_that_makes_no_progress_for_the_stated_time_is_slow_when_the_others_wait_for_it(SlowMember policy)
    {
        var (cluster, comer) = Loading(64, 1, s_evicts with { SlowMember = policy }, new() { MaxJoinBacklogBytes = 4 << 20 }, handlersBeginAfter: 100);
        using var closing = cluster;
        for (int i = 0; i < 2; i++) Send(cluster, i, 15_000, 1_000, ordered: i == 1);
        cluster.Simulation.Run(TimeSpan.FromSeconds(30));
        Assert.Equal(GroupPhase.Member, comer.Host.Groups[0].Phase);
        if (policy == SlowMember.Evict) Assert.Equal([(comer.Id, Suspicion.Slow)], cluster.Oracle.Suspicions.Distinct());
        else Assert.Empty(cluster.Oracle.Suspicions);
    }

    /// <summary>The coordinator sends more than any window lets through, and positions of messages that never come.</summary>
    [Fact]
    public void A_lying_sequencer_gives_a_joiner_no_more_positions_than_its_report_has_room_for()
    {
        var (cluster, comer) = Loading(69, 1_000, s_evicts);
        using var closing = cluster;
        var group = comer.Host.Groups[0];
        var counters = comer.SimNode.Node.Counters;
        int coordinator = group.View!.Coordinator;
        for (int i = 0; i < 2; i++)
        {
            comer.SimNode.Post(() => group.Multicast.OnData(coordinator, Records(coordinator, group.Multicast.ReceivedOf(coordinator), ushort.MaxValue), wedged: false));
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        }
        Assert.Equal(2u * ushort.MaxValue, group.Multicast.ReceivedOf(coordinator));
        long before = counters.Refused(RefusalReason.Unexpected);
        int size = 0;
        comer.SimNode.Post(() =>
        {
            for (uint from = 0; from < 7 * 28_000; from += 28_000) group.Multicast.OnOrder(coordinator, Positions(coordinator, from), wedged: false);
            size = group.Multicast.Report(1).Size;
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        Assert.InRange(size, 600_000, (1 << 20) - FrameHeader.Size);
        Assert.True(counters.Refused(RefusalReason.Unexpected) > before);
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.True(comer.SimNode.Alive);
    }

    private static byte[] Records(int sender, uint first, int count)
    {
        const int head = 8, record = 8;
        var body = new byte[head + (count * record)];
        BinaryPrimitives.WriteUInt16LittleEndian(body, (ushort)sender);
        BinaryPrimitives.WriteUInt16LittleEndian(body.AsSpan(2), (ushort)count);
        BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(4), first);
        for (int at = head; at < body.Length; at += record) MessageRecord.Write(body.AsSpan(at), MessageKind.Whole, 1, 0, []);
        return body;
    }

    private static byte[] Positions(int sender, uint from)
    {
        var body = new byte[12];
        BinaryPrimitives.WriteUInt32LittleEndian(body, from);
        BinaryPrimitives.WriteUInt16LittleEndian(body.AsSpan(4), (ushort)sender);
        BinaryPrimitives.WriteUInt16LittleEndian(body.AsSpan(6), 28_000);
        BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(8), (1u << 30) + from);
        return body;
    }

    [Theory]
    [InlineData(1L << 20)]
    [InlineData(1L << 40)]
    public void A_backlog_out_of_range_is_refused(long bytes) =>
        Assert.Throws<ArgumentException>(() => new GroupCluster(65, 0).Add(host: new() { MaxJoinBacklogBytes = bytes }));
}
