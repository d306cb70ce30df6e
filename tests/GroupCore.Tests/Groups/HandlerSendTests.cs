using GroupCore.Groups;
using GroupCore.Transport;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>Point-to-point messages that handlers send: never more on a link than it takes, and in their order.</summary>
public sealed class HandlerSendTests
{
    private const int Answers = 60;
    private const int Bytes = 1_000_000;
    private readonly List<int> _got = [];
    private TestMember? _asked;

    /// <summary>Member 1 answers a message with 60 MB.</summary>
    private GroupCluster Settled(ulong seed, long bytesPerSecond)
    {
        var cluster = new GroupCluster(seed, 3, link: new LinkModel() with { BytesPerSecond = bytesPerSecond }, more: g => g
            .Handle<int>("burst", (from, number) =>
            {
                for (int i = 0; i < Answers; i++) _ = _asked!.Group!.SendToAsync<ReadOnlyMemory<byte>>(from.Rank, "answer", new byte[Bytes + i]).AsTask();
            })
            .HandleBytes("answer", (from, bytes) => _got.Add(bytes.Length - Bytes)));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        _asked = cluster[1];
        return cluster;
    }

    /// <summary>A handler's answer waits for room at its node, which frames for the failed member take up, and the view without that member waits for the answer.</summary>
    [Theory]
    [InlineData(1, true)]
    [InlineData(2, false)]
    public void What_is_queued_for_a_member_that_has_failed_does_not_hold_up_the_view_without_it(ulong seed, bool hostAnswers)
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = seed, MostQueuedBytes = 256 << 10, ReplayCommand = $"seed {seed}" });
        TestMember? asked = null;
        int answers = 0;
        using var cluster = new GroupCluster(simulation, 3, more: g => g
            .Handle<int>("question", (from, number) => { _ = asked!.Group!.SendToAsync<ReadOnlyMemory<byte>>(from.Rank, "answer", new byte[Bytes]).AsTask(); })
            .HandleBytes("answer", (from, bytes) => answers++));
        Assert.True(cluster.Settle());
        simulation.Run(TimeSpan.FromSeconds(1));
        asked = cluster[1];
        var (asker, failed) = (cluster[0], cluster[2]);
        failed.Crash(hostAnswers);
        simulation.Run(TimeSpan.FromMilliseconds(10));
        asked.SimNode.Post(() =>
        {
            asked.Group!.Protocol.Links.Frame(GroupCore.Wire.FrameType.FirstLayer, 300 << 10);
            asked.Group.Protocol.Links.SendTo(failed.Group!.Rank);
        });
        _ = simulation.Spawn(() => asker.Group!.SendToAsync(asked.Group!.Rank, "question", 1).AsTask());
        simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.Equal((0, 1), (answers, asked.Group!.Protocol.Peers.Outstanding));
        cluster.Oracle.Fail(failed.Membership);
        simulation.Run(TimeSpan.FromSeconds(1));
        Assert.True(asked.Group.Protocol.IsWedged);
        Assert.True(cluster.Settle());
        Assert.Equal(1, answers);
        Assert.Empty(cluster.Oracle.Suspicions);
    }

    /// <summary>One member alone has the last multicasts of a failed member, and frames for the failed member fill its node. It says that the others have to wait.</summary>
    [Theory]
    [InlineData(1, 0)]
    [InlineData(2, 1)]
    public void A_member_that_has_no_room_to_forward_what_it_holds_is_not_suspected_for_that(ulong seed, int holderRank)
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = seed, MostQueuedBytes = 256 << 10, ReplayCommand = $"seed {seed}" });
        int got = 0;
        using var cluster = new GroupCluster(simulation, 4, more: g => g.Handle<int>("news", (from, number) => got++));
        Assert.True(cluster.Settle());
        simulation.Run(TimeSpan.FromSeconds(1));
        var (holder, failed) = (cluster.Members.Single(m => m.Group!.Rank == holderRank), cluster.Members.Single(m => m.Group!.Rank == 3));
        foreach (var other in cluster.Members)
            if (other != holder && other != failed) simulation.Network.Cut(failed.SimNode, other.SimNode, CutMode.Drop);
        _ = simulation.Spawn(() => failed.Group!.SendAsync("news", 1).AsTask());
        Assert.True(simulation.RunUntil(() => got == 2, TimeSpan.FromSeconds(1)));
        failed.Crash(hostAnswers: false);
        holder.SimNode.Post(() =>
        {
            holder.Group!.Protocol.Links.Frame(GroupCore.Wire.FrameType.FirstLayer, 300 << 10);
            holder.Group.Protocol.Links.SendTo(3);
        });
        simulation.Run(TimeSpan.FromMilliseconds(100));
        cluster.Oracle.Fail(failed.Membership);
        simulation.Run(TimeSpan.FromSeconds(2.8));
        Assert.True(holder.Group!.Protocol.IsWedged);
        Assert.True(cluster.Settle());
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Equal(4, got);
    }

    [Theory]
    [InlineData(1, 100_000_000, false)]
    [InlineData(2, 100_000_000, true)]
    [InlineData(3, 5_000_000, false)]
    [InlineData(4, 5_000_000, true)]
    public void R1_what_a_handler_sends_waits_for_room_and_holds_a_view_change_up_without_a_suspicion(ulong seed, long bytesPerSecond, bool wedged)
    {
        using var cluster = Settled(seed, bytesPerSecond);
        long most = 0;
        int peer = _asked!.SimNode.Node.Links.Open(cluster[0].SimNode.Address);
        cluster.Simulation.AddInvariant("backlog", () =>
        {
            most = Math.Max(most, _asked.SimNode.Node.Links.Backlog(peer));
            return null;
        });
        ulong view = cluster[0].Group!.CurrentView.Id;
        _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendToAsync(_asked.Group!.Rank, "burst", 1).AsTask());
        if (wedged)
        {
            Assert.True(cluster.Simulation.RunUntil(() => _got.Count > 0, TimeSpan.FromSeconds(5)));
            cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        }
        Assert.True(cluster.Simulation.RunUntil(() => _got.Count == Answers, TimeSpan.FromSeconds(60)), $"{_got.Count} came, most {most}; {string.Join(", ", cluster.Oracle.Suspicions)}");
        Assert.Equal(Enumerable.Range(0, Answers), _got);
        Assert.InRange(most, 1, LinkLimits.MostBulkBytes + (2L << 20));
        if (wedged) Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.CurrentView.Id > view, TimeSpan.FromSeconds(10)));
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Equal(0, _asked.Group!.Protocol.Peers.Outstanding);
        Assert.Equal(0, cluster[0].Group!.Protocol.Peers.Outstanding);
        Assert.Equal(3, cluster[0].Group!.CurrentView.Members.Count);
    }

    /// <summary>The asker waits for the answers, so they are sent although for its own program their sender's membership is over meanwhile.</summary>
    [Fact]
    public void R13_what_handlers_sent_of_a_member_that_is_disposed_goes_out_and_the_view_change_ends()
    {
        using var cluster = Settled(6, 2_500_000);
        _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendToAsync(_asked!.Group!.Rank, "burst", 1).AsTask());
        Assert.True(cluster.Simulation.RunUntil(() => _got.Count > 0, TimeSpan.FromSeconds(5)));
        var disposed = _asked!.Group!;
        _ = cluster.Simulation.Spawn(() => disposed.DisposeAsync().AsTask());
        Assert.True(cluster.Simulation.RunUntil(() => disposed.Protocol.Over is not null, TimeSpan.FromSeconds(30)));
        Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.CurrentView.Members.Count == 2, TimeSpan.FromSeconds(120)), $"{_got.Count} came; {cluster[0].Group!.Protocol}; {disposed.Protocol}");
        Assert.Equal(Enumerable.Range(0, Answers), _got);
        Assert.True(cluster.Simulation.RunUntil(() => disposed.Protocol.IsOver && disposed.Protocol.Backlog == (0, 0, 0, 0), TimeSpan.FromSeconds(10)), $"{disposed.Protocol.Backlog}");
        Assert.Empty(cluster.Oracle.Suspicions);
    }

    [Fact]
    public void What_handlers_sent_before_their_member_disposed_of_the_group_still_goes_out_and_the_receiver_stays_a_member()
    {
        TestMember? leaver = null;
        using var cluster = new GroupCluster(6, 3, link: new LinkModel() with { BytesPerSecond = 5_000_000 }, beforeMembers: static c => c.HostOptions = new() { DisposeTimeout = TimeSpan.Zero }, more: g => g
            .Handle<int>("burst", (from, number) =>
            {
                for (int i = 0; i < Answers; i++) _ = leaver!.Group!.SendToAsync<ReadOnlyMemory<byte>>(from.Rank, "answer", new byte[Bytes + i]).AsTask();
            })
            .HandleBytes("answer", (from, bytes) => _got.Add(bytes.Length - Bytes)));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        leaver = cluster[1];
        var protocol = leaver.Group!.Protocol;
        _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendToAsync(leaver.Group.Rank, "burst", 1).AsTask());
        Assert.True(cluster.Simulation.RunUntil(() => _got.Count > 0, TimeSpan.FromSeconds(5)));
        leaver.End();
        _ = cluster.Simulation.Spawn(() => leaver.Group.DisposeAsync().AsTask());
        Assert.True(cluster.Simulation.RunUntil(() => protocol.IsOver, TimeSpan.FromSeconds(60)), $"{protocol}; {_got.Count} came; {string.Join(", ", cluster.Oracle.Suspicions)}");
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(Enumerable.Range(0, Answers), _got);
        Assert.Empty(cluster.Oracle.Suspicions);
        Assert.Equal(2, cluster[0].Group!.CurrentView.Members.Count);
        Assert.Equal((0L, 0L), (protocol.Backlog.Calls, protocol.Backlog.Bytes));
    }

    [Fact]
    public void R9_what_handlers_send_to_a_full_receiver_keeps_the_order_of_the_handlers()
    {
        var gate = new TaskCompletionSource();
        TestMember? first = null;
        using var cluster = new GroupCluster(5, 2, more: g => g
            .HandleAsync<int>("number", async (from, number) =>
            {
                if (!gate.Task.IsCompleted) await gate.Task.ConfigureAwait(false);
                _got.Add(number);
            })
            .Handle<int>("all", (from, number) => Forward(first!, number))
            .Handle<int>("one", (from, number) => Forward(first!, number)));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        first = cluster[0];
        for (int i = 0; i < GroupLimits.PeerOutstanding; i++)
        {
            int number = i;
            _ = cluster.Simulation.Spawn(() => first.Group!.SendToAsync(1, "number", number).AsTask());
            if (i % 500 == 499) cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        }
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        // First the handler of a multicast, whose send waits for the window; behind it the handler of a message to one, whose send must not overtake it.
        _ = cluster.Simulation.Spawn(() => first.Group!.OrderedSendAsync("all", -1).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        _ = cluster.Simulation.Spawn(() => first.Group!.SendToAsync(0, "one", -2).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => _got.Count == GroupLimits.PeerOutstanding + 2, TimeSpan.FromSeconds(10)));
        Assert.Equal([.. Enumerable.Range(0, GroupLimits.PeerOutstanding), -1, -2], _got);
    }

    /// <summary>No window bounds these messages, so handlers never wait for each other. But a receiver that handles nothing gets a bounded number of them.</summary>
    [Theory]
    [InlineData(40_000, 8, 32_768)]
    [InlineData(80, 1_000_000, 67)]
    public void R_what_handlers_send_to_a_receiver_that_handles_nothing_is_bounded(int messages, int bytes, int most)
    {
        var gate = new TaskCompletionSource();
        TestMember? first = null;
        SendQueueFullException? refused = null;
        int sent = 0, others = 0, joined = 0;
        int[] ranks = [];
        Simulation? simulation = null;
        using var cluster = new GroupCluster(9, 3, more: g =>
        {
            int me = joined++;
            g.HandleAsync<byte[]>("part", async (from, message) =>
            {
                if (me == 2) others++;
                if (me != 1) return;
                if (!gate.Task.IsCompleted) await gate.Task.ConfigureAwait(false);
                _got.Add(message.Length);
            }).HandleAsync<int>("flood", async (from, count) =>
            {
                refused = null;
                var part = new byte[bytes];
                for (int i = 0; i < count && refused is null; i++)
                {
                    try
                    {
                        await first!.Group!.SendToAsync(ranks[1], "part", part).ConfigureAwait(false);
                        // The pause keeps messages from waiting for room: a refusal is then due to unhandled ones only.
                        if (++sent % 4_096 == 0 || bytes > 100_000) await simulation!.Delay(TimeSpan.FromMilliseconds(100)).ConfigureAwait(false);
                    }
                    catch (SendQueueFullException full)
                    {
                        refused = full;
                    }
                }
                await first!.Group!.SendToAsync(ranks[2], "part", part).ConfigureAwait(false);
            });
        });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        (first, simulation) = (cluster[0], cluster.Simulation);
        var receiver = cluster[1].Group!;
        ranks = [first.Group!.Rank, receiver.Rank, cluster[2].Group!.Rank];
        _ = cluster.Simulation.Spawn(() => first.Group!.SendToAsync(ranks[0], "flood", messages).AsTask());
        Assert.True(cluster.Simulation.RunUntil(() => others == 1, TimeSpan.FromSeconds(60)), $"{sent} sent, {refused}; {first.Group!.Protocol}");
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
        Assert.NotNull(refused);
        Assert.Equal(receiver.CurrentView.Members[ranks[1]].Address, refused.Receiver);
        Assert.InRange(refused.RetryAfter, TimeSpan.FromMilliseconds(1), TimeSpan.FromSeconds(1));
        Assert.InRange(sent, most - 1, most);
        Assert.InRange(receiver.Protocol.Dispatcher.Waiting, sent - 1, sent + 10);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => _got.Count == sent && first.Group!.Protocol.Peers.Outstanding == 0, TimeSpan.FromSeconds(60)));
        // Messages that were handled no longer count.
        _ = cluster.Simulation.Spawn(() => first.Group!.SendToAsync(ranks[0], "flood", most - 1).AsTask());
        Assert.True(cluster.Simulation.RunUntil(() => others == 2, TimeSpan.FromSeconds(60)));
        Assert.Null(refused);
        Assert.True(cluster.Simulation.RunUntil(() => _got.Count == sent, TimeSpan.FromSeconds(60)));
        Assert.Empty(cluster.Oracle.Suspicions);
    }

    [Fact]
    public void R9_what_handlers_send_at_a_blocked_member_keeps_the_order_of_the_handlers()
    {
        TestMember? first = null;
        using var cluster = new GroupCluster(7, 2, more: g => g
            .Handle<int>("number", (from, number) => _got.Add(number))
            .Handle<int>("all", (from, number) => Forward(first!, number))
            .Handle<int>("one", (from, number) => Forward(first!, number)));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        first = cluster[0];
        first.Membership.Block(true);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        // Calls of handlers would each be complete at once, but of these the first waits for contact.
        _ = cluster.Simulation.Spawn(() => cluster[1].Group!.OrderedSendAsync("all", -1).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        _ = cluster.Simulation.Spawn(() => cluster[1].Group!.SendToAsync(0, "one", -2).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        first.Membership.Block(false);
        Assert.True(cluster.Simulation.RunUntil(() => _got.Count == 2, TimeSpan.FromSeconds(10)));
        Assert.Equal([-1, -2], _got);
    }

    private static void Forward(TestMember from, int number)
    {
        if (from.Group!.Rank == 0 && from.Group.Protocol.Upcalls.IsCurrent) _ = from.Group.SendToAsync(1, "number", number).AsTask();
    }
}
