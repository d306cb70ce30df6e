using GroupCore.Groups;
using GroupCore.Transport;
using GroupCore.Wire;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>A link between two living members ends and loses the frames on their way: members send them again, or one of the two goes.</summary>
public sealed class LostLinkTests
{
    [Theory, InlineData(1), InlineData(2), InlineData(3), InlineData(4), InlineData(5), InlineData(6), InlineData(7), InlineData(8)]
    public void F8_multicasts_go_on_after_a_link_overflowed(ulong seed)
    {
        int delivered = 0;
        using var cluster = new GroupCluster(seed, 3, more: g => g.Handle<byte[]>("many", (from, m) => delivered++));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var from = cluster[0];
        Overflow(from, cluster[1], multicasts: 3);
        foreach (var member in cluster.Members)
        {
            Send(cluster, member, ordered: true);
            Send(cluster, member, ordered: false);
        }
        // Each member gets three messages of the turn of the overflow and six sent after it.
        Assert.True(cluster.Simulation.RunUntil(() => delivered == 3 * 9, TimeSpan.FromSeconds(10)), $"{delivered} delivered");
        Assert.True(cluster.Settle());
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Null(cluster.Verdict());
    }

    [Theory, InlineData(1), InlineData(2), InlineData(3)]
    public void F8_a_message_to_one_member_that_a_link_lost_ends_in_a_suspicion(ulong seed)
    {
        using var cluster = new GroupCluster(seed, 3, more: g => g.Handle<byte[]>("one", (from, m) => { }));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        int to = cluster[1].Group!.Rank;
        cluster.Simulation.Network.Cut(cluster[0].SimNode, cluster[1].SimNode, CutMode.Drop);
        cluster.Simulation.Spawn(() => cluster[0].Group!.SendToAsync(to, "one", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Overflow(cluster[0], cluster[1], multicasts: 0);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Oracle.Suspicions.Count > 0, TimeSpan.FromSeconds(10)));
    }

    /// <summary>The leader says every second that nothing holds it up. The message is still not handled, and only its sender knows that.</summary>
    [Theory, InlineData(1), InlineData(2), InlineData(3)]
    public void F8_a_message_to_the_leader_of_a_flush_that_a_link_lost_stays_a_suspicion(ulong seed)
    {
        using var cluster = new GroupCluster(seed, 3, more: g => g.Handle<byte[]>("one", (from, m) => { }));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var members = cluster.Members.OrderBy(static m => m.Group!.Rank).ToList();
        cluster.Simulation.Network.Cut(members[1].SimNode, members[0].SimNode, CutMode.Drop);
        cluster.Simulation.Spawn(() => members[1].Group!.SendToAsync(0, "one", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Overflow(members[1], members[0], multicasts: 0);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Oracle.Suspicions.Count > 0, TimeSpan.FromSeconds(10)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(10));
        Assert.Equal([(members[0].Id, GroupCore.Membership.Suspicion.FlushStall)], cluster.Oracle.Suspicions);
        Assert.Empty(cluster.Oracle.Withdrawals);
    }

    [Fact]
    public void F8_a_query_whose_answer_a_link_lost_ends_before_its_time_is_over()
    {
        using var cluster = new GroupCluster(9, 2);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        // Queries reach the other member; before its answers are read, its link to the asker overflows.
        cluster.Simulation.Network.Cut(cluster[1].SimNode, cluster[0].SimNode, CutMode.Drop);
        Exception? answer = null;
        cluster.Simulation.Spawn(async () => answer = await Record.ExceptionAsync(() => cluster[0].Group!.QueryAsync<int, int>("ask", 1, Replies.All, TimeSpan.FromMinutes(5)).AsTask()));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Overflow(cluster[1], cluster[0], multicasts: 0);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.Simulation.RunUntil(() => answer is not null, TimeSpan.FromSeconds(10)), string.Join('\n', cluster.Members.Select(m => $"{m.Group!.Protocol} {m.Ended} {m.Group.Protocol.Queries.Count}")) + string.Join(',', cluster.Oracle.Suspicions));
        Assert.IsType<TooFewRepliesException>(answer);
        Assert.True(cluster.Settle(), string.Join('\n', cluster.Members.Select(m => $"{m.Group!.Protocol} {m.Ended}")) + string.Join(',', cluster.Oracle.Suspicions));
    }

    [Fact]
    public void An_ordered_query_whose_answer_is_lost_before_the_asker_has_it_itself_ends_before_its_time_is_over()
    {
        using var cluster = new GroupCluster(11, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(static m => m.Group!.Rank).ToList();
        var (sequencer, asker, other) = (rank[0], rank[1], rank[2]);
        // The order comes late to the asker; the other has answered by then, and the answer is lost with its link.
        cluster.Simulation.Network.Cut(sequencer.SimNode, asker.SimNode);
        cluster.Simulation.Network.Cut(other.SimNode, asker.SimNode, CutMode.Drop);
        Exception? answer = null;
        cluster.Simulation.Spawn(async () => answer = await Record.ExceptionAsync(() => asker.Group!.OrderedQueryAsync<int, int>("ask", 1, Replies.All, TimeSpan.FromMinutes(5)).AsTask()));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Overflow(other, asker, multicasts: 0);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        cluster.Simulation.Network.Heal(other.SimNode, asker.SimNode);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        Assert.Null(answer);
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.Simulation.RunUntil(() => answer is not null, TimeSpan.FromSeconds(10)), string.Join('\n', cluster.Members.Select(m => $"{m.Group!.Protocol} {m.Group.Protocol.Queries.Count}")));
        Assert.IsType<TooFewRepliesException>(answer);
        Assert.True(cluster.Settle());
    }

    /// <summary>While the question waits, say for a handler that has the receiver's window full, a link that ends has lost nothing of it. It goes over the next link.</summary>
    [Fact]
    public void A_question_to_one_member_of_which_nothing_was_sent_outlives_the_link()
    {
        using var cluster = new GroupCluster(12, 2);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var (asker, other) = (cluster[0], cluster[1]);
        int answer = 0;
        Exception? error = null;
        // The link is full from the turn in which the asker asks.
        Overflow(asker, other, multicasts: 0, bytes: LinkLimits.MostBulkBytes + 1_000_000);
        cluster.Simulation.Network.Cut(asker.SimNode, other.SimNode, CutMode.Drop);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        cluster.Simulation.Spawn(async () =>
        {
            try
            {
                answer = await asker.Group!.QueryToAsync<int, int>(other.Group!.Rank, "ask", 41, TimeSpan.FromMinutes(1));
            }
            catch (Exception failed)
            {
                error = failed;
            }
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        Overflow(asker, other, multicasts: 0);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.Simulation.RunUntil(() => answer != 0 || error is not null, TimeSpan.FromSeconds(20)));
        Assert.Null(error);
    }

    /// <summary>Either the first of them leads the flush, or neither does.</summary>
    [Theory, InlineData(1, 0, 1), InlineData(2, 1, 2), InlineData(3, 0, 2), InlineData(4, 2, 1)]
    public void Two_members_that_each_lost_what_a_handler_of_the_other_sent_do_not_excuse_each_other_for_ever(ulong seed, int first, int second)
    {
        GroupCluster? all = null;
        TaskCompletionSource[] gates = [new(), new(), new()];
        int joined = 0, pings = 0;
        using var cluster = new GroupCluster(seed, 3, beforeMembers: c => all = c, more: g =>
        {
            int me = joined++;
            g.HandleAsync<int>("ping", async (from, m) =>
            {
                pings++;
                await gates[me].Task.ConfigureAwait(false);
                _ = all![me].Group!.SendToAsync(from.Rank, "pong", m).AsTask();
            }).Handle<int>("pong", static (from, m) => { });
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(static m => m.Group!.Rank).ToList();
        var (a, b) = (rank[first], rank[second]);
        _ = cluster.Simulation.Spawn(() => a.Group!.SendToAsync(b.Group!.Rank, "ping", 1).AsTask());
        _ = cluster.Simulation.Spawn(() => b.Group!.SendToAsync(a.Group!.Rank, "ping", 2).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal(2, pings);
        cluster.Simulation.Network.Cut(a.SimNode, b.SimNode, CutMode.Drop);
        cluster.Simulation.Network.Cut(b.SimNode, a.SimNode, CutMode.Drop);
        foreach (var gate in gates) cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Overflow(a, b, multicasts: 0);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        cluster.Simulation.Network.Heal();
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        Assert.Equal((2, 2), (a.Group!.Protocol.Peers.Outstanding, b.Group!.Protocol.Peers.Outstanding));
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Oracle.Suspicions.Count > 0, TimeSpan.FromSeconds(30)), $"{a.Group.Protocol}; {b.Group.Protocol}");
        Assert.All(cluster.Oracle.Suspicions, suspicion => Assert.True(suspicion.Subject == a.Id || suspicion.Subject == b.Id));
        cluster.Simulation.Run(TimeSpan.FromSeconds(10));
        Assert.Empty(cluster.Oracle.Withdrawals);
    }

    /// <summary>
    /// The member between the other two has acknowledged the flush when its handler sends. The sender of the message that this handler has is told that the handler waits for
    /// others, so only the member between can say for whom. Each of the three leads the flush once.
    /// </summary>
    [Theory, InlineData(1, 0, 1, 2), InlineData(2, 1, 0, 2), InlineData(3, 2, 1, 0)]
    public void What_a_handler_sends_after_its_member_has_acknowledged_the_flush_and_a_link_loses_ends_in_a_suspicion(ulong seed, int first, int between, int last)
    {
        GroupCluster? all = null;
        var gate = new TaskCompletionSource();
        int joined = 0, handled = 0;
        using var cluster = new GroupCluster(seed, 3, beforeMembers: c => all = c, more: g =>
        {
            int me = joined++;
            g.HandleAsync<int>("ping", async (from, to) =>
            {
                handled++;
                await gate.Task.ConfigureAwait(false);
                _ = all![me].Group!.SendToAsync(to, "pong", 1).AsTask();
            }).Handle<int>("pong", static (from, m) => { });
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(static m => m.Group!.Rank).ToList();
        var (a, b, c) = (rank[first], rank[between], rank[last]);
        ulong view = a.Group!.CurrentView.Id;
        _ = cluster.Simulation.Spawn(() => a.Group.SendToAsync(between, "ping", last).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal(1, handled);
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => b.Group!.Protocol.Flush.Acked, TimeSpan.FromSeconds(5)));
        cluster.Simulation.Network.Cut(b.SimNode, c.SimNode, CutMode.Drop);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => b.Group!.Protocol.Peers.Outstanding == 1, TimeSpan.FromSeconds(1)));
        Overflow(b, c, multicasts: 0);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        cluster.Simulation.Network.Heal();
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        Assert.Equal((1, 1), (a.Group.Protocol.Peers.Outstanding, b.Group!.Protocol.Peers.Outstanding));
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Oracle.Suspicions.Count > 0, TimeSpan.FromSeconds(30)), $"{a.Group.Protocol}; {b.Group.Protocol}");
        cluster.Simulation.Run(TimeSpan.FromSeconds(10));
        // A member that only waited for another member's handler must not be suspected.
        Assert.All(cluster.Oracle.Suspicions, suspicion => Assert.Equal(c.Id, suspicion.Subject));
        Assert.Empty(cluster.Oracle.Withdrawals);
        Assert.Equal(view, a.Group.CurrentView.Id);
    }

    [Fact]
    public void R_a_member_whose_link_is_lost_twice_in_a_view_stays_suspected_until_the_view_is_over()
    {
        using var cluster = new GroupCluster(10, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        // The view change that the first loss asks for begins after the second, and cannot end before the network heals.
        cluster.Oracle.MaxDelay = TimeSpan.FromMilliseconds(50);
        cluster.Simulation.Network.Cut(cluster[0].SimNode, cluster[1].SimNode, CutMode.Drop);
        cluster.Simulation.Network.Cut(cluster[2].SimNode, cluster[1].SimNode, CutMode.Drop);
        for (int i = 0; i < 2; i++)
        {
            Overflow(cluster[0], cluster[1], multicasts: 0);
            cluster.Simulation.Run(TimeSpan.FromMicroseconds(100));
        }
        Assert.True(cluster.Simulation.RunUntil(() => cluster.Members.All(static m => m.Group!.Protocol.IsWedged), TimeSpan.FromSeconds(2)));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(200));
        Assert.Equal([(cluster[1].Id, GroupCore.Membership.Suspicion.FlushStall)], cluster.Oracle.Suspicions);
        Assert.Empty(cluster.Oracle.Withdrawals);
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Contains(cluster[1].Id, cluster.Oracle.Withdrawals);
        Assert.Null(cluster.Verdict());
    }

    /// <summary>A layer counts on what its channels promise: in a view no frame of a member comes unless all those before it have come.</summary>
    [Theory, InlineData(1, true), InlineData(2, true), InlineData(3, true), InlineData(4, false), InlineData(5, false), InlineData(6, false)]
    public void R_no_frame_of_a_layer_comes_behind_one_that_a_link_lost_in_its_view(ulong seed, bool unread)
    {
        using var cluster = new GroupCluster(seed, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        TestMember[] members = [.. cluster.Members.OrderBy(static m => m.Group!.Rank)];
        var layers = new TestLayer[3];
        foreach (var member in members) cluster.Simulation.Spawn(async () => layers[member.Group!.Rank] = await member.Group.AttachLayerAsync(ToyLayers.First, static port => new TestLayer(port, static () => [])));
        Assert.True(cluster.Simulation.RunUntil(() => Array.TrueForAll(layers, static l => l is not null), TimeSpan.FromSeconds(1)));
        var sent = new Dictionary<(int From, int To, ulong View), int>();
        var first = layers[0].Port.View!.Id;
        // The view that is asked for because of the loss comes late.
        cluster.Oracle.MaxDelay = TimeSpan.FromMilliseconds(200);
        if (unread) cluster.Simulation.Network.Cut(members[0].SimNode, members[1].SimNode, CutMode.Drop);
        Exchange();
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(20));
        members[0].SimNode.Post(() =>
        {
            for (long bytes = 0; bytes <= LinkLimits.QueueBytes; bytes += 1_000_000) Number(0, 1, 1_000_000);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        cluster.Simulation.Network.Heal();
        for (int i = 0; i < 200; i++)
        {
            Exchange();
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(2));
        }
        Assert.True(cluster.Settle());
        Exchange();
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        ulong last = layers[0].Port.View!.Id;
        Assert.NotEqual(first, last);
        foreach (var ((from, to, view), count) in sent)
        {
            int[] came = [.. layers[to].Frames.Where(f => f.Rank == from && BitConverter.ToUInt64(f.Body) == view).Select(static f => BitConverter.ToInt32(f.Body, 8))];
            Assert.Equal(Enumerable.Range(0, came.Length), came);
            if (view == last) Assert.Equal(count, came.Length);
        }

        void Exchange()
        {
            foreach (var (from, to) in ((int, int)[])[(0, 1), (1, 0), (0, 2), (2, 0)]) members[from].SimNode.Post(() => Number(from, to, 12));
        }

        void Number(int from, int to, int size)
        {
            var port = layers[from].Port;
            if (port.Wedged) return;
            ulong view = port.View!.Id;
            int number = sent.GetValueOrDefault((from, to, view));
            sent[(from, to, view)] = number + 1;
            var body = port.Reserve(size);
            BitConverter.TryWriteBytes(body, view);
            BitConverter.TryWriteBytes(body[8..], number);
            port.Send(to, FrameType.FirstLayer, size);
        }
    }

    /// <summary>Sends more in one turn than a link takes, and multicasts behind that.</summary>
    private static void Overflow(TestMember from, TestMember to, int multicasts, long bytes = LinkLimits.QueueBytes)
    {
        var protocol = from.Group!.Protocol;
        from.SimNode.Post(() =>
        {
            for (long queued = 0; queued <= bytes; queued += 1_000_000)
            {
                protocol.Links.Frame(FrameType.FirstLayer, 1_000_000);
                protocol.Links.SendTo(to.Group!.Rank);
            }
        });
        for (int i = 0; i < multicasts; i++) _ = from.Group!.SendAsync("many", Array.Empty<byte>()).AsTask();
    }

    private static void Send(GroupCluster cluster, TestMember member, bool ordered) => cluster.Simulation.Spawn(async () =>
    {
        if (ordered) await member.Group!.OrderedSendAsync("many", Array.Empty<byte>());
        else await member.Group!.SendAsync("many", Array.Empty<byte>());
    });
}
