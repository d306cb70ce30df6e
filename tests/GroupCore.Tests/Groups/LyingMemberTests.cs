using System.Buffers.Binary;
using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Flush;
using GroupCore.Groups.Multicast;
using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>Lies of one member in a flush that the others can tell by what they know themselves. They cost no other member its place, and all deliver in the same order.</summary>
public sealed class LyingMemberTests
{
    private const ulong Number = 1_000_000;

    /// <summary>A group that evicts, whose third member handles nothing before the gate opens.</summary>
    private static GroupCluster WithSlowMember(ulong seed, Task gate)
    {
        int joined = 0;
        var cluster = new GroupCluster(new Simulation(new SimulationOptions { Seed = seed, ReplayCommand = $"seed {seed}" }), 3, more: g =>
        {
            int me = joined++;
            g.HandleAsync<byte[]>("many", async (from, m) =>
            {
                if (me == 2) await gate.ConfigureAwait(false);
            }).OnError(static error => { });
        }, options: new() { SlowMember = SlowMember.Evict, SlowMemberTimeout = TimeSpan.FromSeconds(5) });
        Assert.True(cluster.Settle());
        return cluster;
    }

    [Theory]
    [InlineData(0, 1)]
    [InlineData(1, 1)]
    [InlineData(1, 2)]
    public void R_the_leader_suspects_a_member_that_one_member_reports_as_missing_only_when_another_reports_it_too(int named, int saying)
    {
        var gates = new List<TaskCompletionSource>();
        using var cluster = new GroupCluster(61, 4, more: g => g.HandleAsync<byte[]>("hang", async (from, m) =>
        {
            var gate = new TaskCompletionSource();
            gates.Add(gate);
            await gate.Task.ConfigureAwait(false);
        }));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        // Handlers at work hold the flush up as long as the gate is shut, and no member is suspected for it.
        _ = cluster.Simulation.Spawn(() => rank[2].Group!.SendToAsync(3, "hang", Array.Empty<byte>()).AsTask());
        _ = cluster.Simulation.Spawn(() => rank[3].Group!.SendToAsync(2, "hang", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        for (int i = 0; i < 60; i++)
        {
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
            for (int liar = 4 - saying; liar < 4; liar++) SayWait(rank[liar], named);
        }
        if (saying == 1) Assert.Empty(cluster.Oracle.Suspicions);
        else Assert.Contains((rank[named].Id, Suspicion.FlushStall), cluster.Oracle.Suspicions);
        Assert.Equal(2, gates.Count);
        foreach (var gate in gates) cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle());
        Assert.Null(cluster.Verdict());
    }

    /// <summary>Rank 3 says of another member that its handlers hold rank 3 up. Those of ranks 0 and 1 are idle; rank 2's are at work, on a message of rank 1.</summary>
    [Theory]
    [InlineData(0, false)]
    [InlineData(1, false)]
    [InlineData(2, true)]
    public void A_member_reported_as_too_slow_is_suspected_only_when_it_says_itself_that_its_handlers_are_at_work(int named, bool suspected)
    {
        var gate = new TaskCompletionSource();
        using var cluster = new GroupCluster(new Simulation(new SimulationOptions { Seed = 65, ReplayCommand = "seed 65" }), 4, more: g => g.HandleAsync<byte[]>("hang", async (from, m) => await gate.Task.ConfigureAwait(false)),
            options: new() { SlowMember = SlowMember.Evict, SlowMemberTimeout = TimeSpan.FromSeconds(3) });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        _ = cluster.Simulation.Spawn(() => rank[1].Group!.SendToAsync(2, "hang", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        // The true complaint of rank 1 must not be heard.
        rank[1].Membership.Deaf = named == 2;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        for (int i = 0; i < 20; i++)
        {
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
            SayWait(rank[3], named, reason: WaitReason.TooSlow);
        }
        Assert.DoesNotContain(cluster.Oracle.Suspicions, a => a.Item2 == Suspicion.Slow);
        for (int i = 0; i < 40; i++)
        {
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
            SayWait(rank[3], named, reason: WaitReason.TooSlow);
        }
        Assert.Equal(suspected, cluster.Oracle.Suspicions.Contains((rank[named].Id, Suspicion.Slow)));
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
    }

    /// <summary>The view change waits for rank 2. As long as it does, rank 3 says again and again that its handlers are at work, on no member's message.</summary>
    [Theory]
    [InlineData(1, true)]
    [InlineData(30, false)]
    public void A_member_that_says_without_a_pause_that_its_handlers_are_at_work_is_slow_though_no_member_waits_for_them(int every, bool slow)
    {
        using var cluster = new GroupCluster(new Simulation(new SimulationOptions { Seed = 77, ReplayCommand = "seed 77" }), 4,
            options: new() { SlowMember = SlowMember.Evict, SlowMemberTimeout = TimeSpan.FromSeconds(4) });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        rank[2].Membership.Deaf = true;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        for (int i = 0; i < 120; i++)
        {
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
            if (i % every == 0) SayWait(rank[3], reason: WaitReason.OwnCode);
            // Hooks may have taken 2 s of this time.
            if (i == 50) Assert.DoesNotContain(cluster.Oracle.Suspicions, static a => a.Evidence == Suspicion.Slow);
        }
        var said = cluster.Oracle.Suspicions.FindAll(static a => a.Evidence == Suspicion.Slow);
        if (!slow) Assert.Empty(said);
        else Assert.True(said.Count >= 2 && said.TrueForAll(a => a.Subject == rank[3].Id), $"{said.Count} suspicions");
    }

    [Fact]
    public void R_a_member_that_says_that_it_waits_and_has_not_reported_is_suspected()
    {
        using var cluster = new GroupCluster(62, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        // Rank 2 does not hear of the proposal, so it does not report.
        rank[2].Membership.Deaf = true;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        for (int i = 0; i < 40; i++)
        {
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
            SayWait(rank[2], to: rank[0]);
        }
        Assert.Contains((rank[2].Id, Suspicion.FlushStall), cluster.Oracle.Suspicions);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_slow_member_is_suspected_whatever_it_says_of_a_view_change_that_the_membership_does_not_know_of(bool again)
    {
        var gate = new TaskCompletionSource();
        using var cluster = WithSlowMember(67, gate.Task);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var slow = cluster[2];
        SendMany(cluster);
        for (int second = 0; second < 25; second++)
        {
            if (second == 0 || again) ClaimViewChange(slow, Number + (ulong)second);
            cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        }
        Assert.Contains((slow.Id, Suspicion.Slow), cluster.Oracle.Suspicions);
        Assert.DoesNotContain(cluster.Oracle.Suspicions, a => a.Subject != slow.Id);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));
    }

    /// <summary>The liar has had the state as long as the view exists, handles nothing, and says each second that its load makes progress.</summary>
    [Fact]
    public void A_member_that_has_had_the_state_for_long_is_slow_though_it_says_that_it_loads()
    {
        var gate = new TaskCompletionSource();
        using var cluster = WithSlowMember(78, gate.Task);
        var liar = cluster[2];
        SendMany(cluster);
        // The others believe it for as long as it may still be behind with what it held.
        Lie(60);
        Assert.Empty(cluster.Oracle.Suspicions);
        Lie((int)(GroupLimits.CatchUpNanoseconds / 1_000_000_000));
        Assert.Contains((liar.Id, Suspicion.Slow), cluster.Oracle.Suspicions);
        Assert.All(cluster.Oracle.Suspicions, a => Assert.Equal(liar.Id, a.Subject));
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(5));

        void Lie(int seconds)
        {
            for (int i = 0; i < 2 * seconds; i++)
            {
                liar.SimNode.Post(() =>
                {
                    var group = liar.Group!.Protocol;
                    var frame = group.Links.Frame(FrameType.Ack, 7);
                    frame.Clear();
                    frame[0] = 2;
                    group.Links.SendToOthers();
                });
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
            }
        }
    }

    private static void SendMany(GroupCluster cluster)
    {
        for (int i = 0; i < 100; i++) _ = cluster.Simulation.Spawn(() => cluster[0].Group!.SendAsync("many", new byte[200_000]).AsTask());
    }

    /// <summary>Sends all others a frame of a flush that does not exist.</summary>
    private static void ClaimViewChange(TestMember member, ulong proposal) => member.SimNode.Post(() =>
    {
        var group = member.Group!.Protocol;
        var frame = group.Links.Frame(FrameType.FlushWait, 9);
        BinaryPrimitives.WriteUInt64LittleEndian(frame, proposal);
        frame[8] = (byte)WaitReason.OwnCode;
        group.Links.SendToOthers();
    });

    [Theory]
    [InlineData("other positions")]
    [InlineData("more positions than the sequencer gave")]
    [InlineData("a base beyond what all know")]
    public void R_a_report_that_contradicts_the_order_is_refused(string lie)
    {
        using var cluster = new GroupCluster(63, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var leader = cluster.Members.Single(m => m.Group!.Rank == 0);
        // Ordered messages are under way, with positions that are known and not stable.
        foreach (var member in cluster.Members) cluster.Simulation.Spawn(() => member.SendAsync(ordered: true));
        Assert.True(cluster.Simulation.RunUntil(() => leader.Group!.Protocol.Multicast.Report(Number).Order.Count > 0, TimeSpan.FromSeconds(5)));
        long refused = 0, refusedTruth = 0;
        leader.SimNode.Post(() =>
        {
            var group = leader.Group!.Protocol;
            var view = group.View!;
            group.OnPropose(new Proposal(view.Group, Number, view.Id, [.. view.Members.Select(m => m.Id)], [], []));
            var own = group.Multicast.Report(Number);
            var report = new FlushReport(Number, 2, true, 3) { OrderBase = own.OrderBase, OrderClosed = own.OrderBase };
            foreach (var position in own.Order) report.Order.Add(position);
            var counters = leader.SimNode.Node.Counters;
            long before = counters.Refused(RefusalReason.Unexpected);
            group.Flush.OnFrame(2, FrameType.Report, Written(report, lie));
            refused = counters.Refused(RefusalReason.Unexpected) - before;
            group.Flush.OnFrame(2, FrameType.Report, Written(report, ""));
            refusedTruth = counters.Refused(RefusalReason.Unexpected) - before - refused;
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.Equal((1, 0), (refused, refusedTruth));
    }

    /// <summary>
    /// The sequencer is gone. The liar's report begins above the order of a member that was behind, or ends below what that member has dropped: the liar has acknowledged it to
    /// that member and not to the leader. It comes before the honest report, or after it.
    /// </summary>
    [Theory]
    [InlineData("begins late", true)]
    [InlineData("begins late", false)]
    [InlineData("ends early", true)]
    [InlineData("ends early", false)]
    [InlineData("is too long", true)]
    public void A_report_that_begins_late_or_ends_early_makes_no_cut_that_an_honest_member_cannot_continue(string lie, bool first)
    {
        using var cluster = new GroupCluster(72, 4);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        var (leader, honest) = (rank[1].Group!.Protocol, rank[2].Group!.Protocol);
        if (lie == "ends early")
        {
            cluster.Simulation.Network.Slow(rank[3].SimNode, rank[1].SimNode, 1_000_000);
            for (int i = 0; i < 10; i++) _ = cluster.Simulation.Spawn(() => rank[0].SendAsync(ordered: true));
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
        }
        long refused = 0;
        FlushCut? cut = null;
        bool continues = false;
        rank[1].SimNode.Post(() =>
        {
            if (lie != "ends early")
            {
                GivePositions(leader.Multicast, 10);
                GivePositions(honest.Multicast, 5);
            }
            var view = leader.View!;
            leader.OnPropose(new Proposal(view.Group, Number, view.Id, [.. view.Members.Select(m => m.Id).Skip(1)], [], []));
            var own = leader.Multicast.Report(Number);
            Assert.Equal(own.OrderBase + 10, own.OrderLength);
            uint from = lie == "begins late" ? own.OrderLength : own.OrderBase, to = lie == "begins late" ? own.OrderLength + 1 : lie == "ends early" ? own.OrderLength - 5 : own.OrderLength + GroupLimits.OrderPositions + 1;
            var report = new FlushReport(Number, 3, true, 4) { OrderBase = from, OrderClosed = from };
            for (uint x = from; x < to; x++) report.Order.Add(x < own.OrderLength ? own.Order[(int)(x - own.OrderBase)] : ((ushort)0, 0u));
            var truth = honest.Multicast.Report(Number);
            long before = rank[1].SimNode.Node.Counters.Refused(RefusalReason.Unexpected);
            foreach (var next in first ? new[] { report, truth } : [truth, report])
            {
                var body = new byte[next.Size];
                next.Write(body);
                leader.Flush.OnFrame(next.Rank, FrameType.Report, body);
            }
            refused = rank[1].SimNode.Node.Counters.Refused(RefusalReason.Unexpected) - before;
            cut = leader.Flush.Cut;
            continues = cut is not null && honest.Multicast.Continues(cut);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        if (lie == "is too long") Assert.Equal((1, null), (refused, cut));
        else Assert.Equal((0, true), (refused, continues));
    }

    /// <summary>
    /// The sequencer leaves, and so takes part. Rank 3 says that the position behind the leader's order is its own message's, or gives one position more than the sequencer. The
    /// true reports of rank 2 and of the sequencer, which both know more than the leader, are taken whenever they come.
    /// </summary>
    [Theory]
    [InlineData(1, false)]
    [InlineData(1, true)]
    [InlineData(6, false)]
    [InlineData(6, true)]
    public void The_report_of_the_sequencer_is_the_measure_of_what_lies_behind_the_leaders_order(int beyond, bool sequencerFirst)
    {
        using var cluster = new GroupCluster(74, 4);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        var (sequencer, leader, honest) = (rank[0].Group!.Protocol, rank[1].Group!.Protocol, rank[2].Group!.Protocol);
        var counters = rank[1].SimNode.Node.Counters;
        FlushReport[] truth = [], reports = [];
        long refused = 0;
        FlushCut? cut = null;
        rank[1].SimNode.Post(() =>
        {
            GivePositions(leader.Multicast, 10);
            GivePositions(honest.Multicast, 13);
            GivePositions(sequencer.Multicast, 15);
            var view = leader.View!;
            truth = [sequencer.Multicast.Report(Number), honest.Multicast.Report(Number), rank[3].Group!.Protocol.Multicast.Report(Number)];
            leader.OnPropose(new Proposal(view.Group, Number, view.Id, [.. view.Members.Select(m => m.Id).Skip(1)], [view.Members[0].Id], []));
            var lie = new FlushReport(Number, 3, true, 4) { OrderBase = truth[0].OrderBase, OrderClosed = truth[0].OrderBase };
            for (int i = 0; i < 10 + beyond; i++) lie.Order.Add(i < 15 && beyond > 1 ? truth[0].Order[i] : i < 10 ? truth[0].Order[i] : ((ushort)3, 0u));
            reports = sequencerFirst ? [truth[0], lie, truth[1]] : [lie, truth[1]];
            refused = counters.Refused(RefusalReason.Unexpected);
            foreach (var report in reports) Take(report);
        });
        // A member whose report waits to be judged counts as having reported.
        cluster.Simulation.Run(TimeSpan.FromSeconds(sequencerFirst ? 0.01 : 3));
        Assert.Equal(!sequencerFirst, cluster.Oracle.Suspicions.Exists(a => a.Subject == rank[0].Id));
        Assert.DoesNotContain(cluster.Oracle.Suspicions, a => a.Subject == rank[2].Id || a.Subject == rank[3].Id);
        rank[1].SimNode.Post(() =>
        {
            if (!sequencerFirst) Take(truth[0]);
            refused = counters.Refused(RefusalReason.Unexpected) - refused;
            cut = leader.Flush.Cut;
            Take(truth[2]);
            Assert.Null(cut);
            cut = leader.Flush.Cut;
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.Equal((1, true), (refused, cut is not null));

        void Take(FlushReport report)
        {
            var body = new byte[report.Size];
            report.Write(body);
            leader.Flush.OnFrame(report.Rank, FrameType.Report, body);
        }
    }

    private static void GivePositions(ViewMulticast multicast, ushort count)
    {
        var body = new byte[12];
        BinaryPrimitives.WriteUInt32LittleEndian(body, multicast.Report(Number).OrderLength);
        BinaryPrimitives.WriteUInt16LittleEndian(body.AsSpan(6), count);
        BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(8), 100);
        multicast.OnOrder(0, body, wedged: false);
    }

    /// <summary>Rank 4 reports one message more of the victim than the victim has sent, forwards it to all, and is gone.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    public void A_message_that_a_member_reports_of_another_that_did_not_send_it_is_in_no_cut(int victim)
    {
        using var cluster = new GroupCluster(73, 5, more: static g => g.OnError(static error => { }));
        Assert.True(cluster.Settle());
        _ = cluster.Simulation.Spawn(() => rank(victim).SendAsync(ordered: false));
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var (liar, leader) = (rank(4), rank(0));
        uint sent = liar.Group!.Protocol.Multicast.ReceivedOf(victim);
        // Rank 4 does not hear of the proposal, so it says only what the test writes here.
        liar.Membership.Deaf = true;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => leader.Group!.Protocol.Flush.Wedge != 0, TimeSpan.FromSeconds(1)));
        ulong proposal = leader.Group!.Protocol.Flush.Wedge;
        liar.SimNode.Post(() =>
        {
            var group = liar.Group!.Protocol;
            var report = group.Multicast.Report(proposal);
            (report.Received[victim], report.Closed[victim]) = (sent + 1, sent + 1);
            report.Write(group.Links.Frame(FrameType.Report, report.Size));
            group.Links.SendTo(0);
        });
        Assert.True(cluster.Simulation.RunUntil(() => leader.Group!.Protocol.Flush.Cut is not null, TimeSpan.FromSeconds(1)));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        liar.SimNode.Post(() =>
        {
            var group = liar.Group!.Protocol;
            var lie = Forwarded(proposal, victim, sent, 1);
            for (int to = 0; to < 4; to++)
            {
                lie.CopyTo(group.Links.Frame(FrameType.Forward, lie.Length));
                group.Links.SendTo(to);
            }
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        uint[] stored = [.. cluster.Members.Where(m => m != liar).Select(m => m.Group!.Protocol.Multicast.ReceivedOf(victim))];
        liar.Crash();
        cluster.Oracle.Fail(liar.Membership);
        Assert.True(cluster.Settle(), "the view change without the liar does not end");
        Assert.All(stored, count => Assert.Equal(sent, count));
        Assert.DoesNotContain(cluster.Oracle.Suspicions, a => a.Subject != liar.Id);
        Assert.Null(cluster.Verdict());

        TestMember rank(int of) => cluster.Members.Single(m => m.Group!.Rank == of);
    }

    [Fact]
    public void R_frames_that_one_member_sends_before_their_time_leave_others_their_room()
    {
        using var cluster = new GroupCluster(64, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var target = cluster.Members.Single(m => m.Group!.Rank == 0);
        long refused = 0, refusedOther = 0;
        target.SimNode.Post(() =>
        {
            var flush = target.Group!.Protocol.Flush;
            var counters = target.SimNode.Node.Counters;
            var body = new byte[1_000_000];
            BinaryPrimitives.WriteUInt64LittleEndian(body, Number);
            for (int i = 0; i < 100; i++) flush.OnFrame(2, FrameType.CutPart, body);
            refused = counters.Refused(RefusalReason.Unexpected);
            flush.OnFrame(1, FrameType.CutPart, body);
            refusedOther = counters.Refused(RefusalReason.Unexpected) - refused;
            // After a proposal beyond theirs nothing is kept of these frames, which would also count in tests that measure memory.
            var view = target.Group.Protocol.View!;
            target.Group.Protocol.OnPropose(new Proposal(view.Group, Number + 1, view.Id, [.. view.Members.Select(m => m.Id)], [], []));
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.True(refused > 0);
        Assert.Equal(0, refusedOther);
    }

    [Fact]
    public void What_a_member_forwards_beyond_the_cut_is_not_stored()
    {
        var gate = new TaskCompletionSource();
        using var cluster = new GroupCluster(66, 3, more: g => g.HandleAsync<byte[]>("hang", async (from, m) => await gate.Task.ConfigureAwait(false)));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        var target = rank[1].Group!.Protocol;
        // The cut is known, and the flush waits for a handler.
        _ = cluster.Simulation.Spawn(() => rank[1].Group!.SendToAsync(2, "hang", Array.Empty<byte>()).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => target.Flush.Cut is not null, TimeSpan.FromSeconds(5)));
        Assert.Equal(0, target.Flush.Cut!.Holder[2]);
        uint before = 0, after = 0;
        long refused = 0;
        rank[1].SimNode.Post(() =>
        {
            var counters = rank[1].SimNode.Node.Counters;
            (before, refused) = (target.Multicast.ReceivedOf(2), counters.Refused(RefusalReason.Unexpected));
            for (uint first = before; first < before + 10_000; first += 1_000) target.Flush.OnFrame(0, FrameType.Forward, Forwarded(target.Flush.Wedge, 2, first, 1_000));
            (after, refused) = (target.Multicast.ReceivedOf(2), counters.Refused(RefusalReason.Unexpected) - refused);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.Equal((before, 10), (after, refused));
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Settle());
        Assert.Null(cluster.Verdict());
    }

    /// <summary>Rank 3 forwards in rank 2's name what rank 2 never sent, before the leader forwards what rank 2 did send.</summary>
    [Fact]
    public void What_a_member_forwards_that_the_cut_does_not_name_for_its_sender_is_not_stored()
    {
        using var cluster = new GroupCluster(75, 4);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        var target = rank[1].Group!.Protocol;
        var counters = rank[1].SimNode.Node.Counters;
        uint before = target.Multicast.ReceivedOf(2), lied = 0, told = 0;
        long refused = 0;
        rank[1].SimNode.Post(() =>
        {
            var view = target.View!;
            target.OnPropose(new Proposal(view.Group, Number, view.Id, [.. view.Members.Select(m => m.Id)], [], []));
            uint length = target.Multicast.Report(Number).OrderLength;
            var cut = new FlushCut(Number, 4) { OrderFrom = length, OrderLength = length };
            for (int s = 0; s < 4; s++) cut.Upto[s] = target.Multicast.ReceivedOf(s);
            cut.Upto[2] = before + 3;
            cut.Holder[3] = 3;
            var body = new byte[cut.Size];
            cut.Write(body);
            target.Flush.OnFrame(0, FrameType.Cut, body);
            refused = counters.Refused(RefusalReason.NotEntitled);
            target.Flush.OnFrame(3, FrameType.Forward, Forwarded(Number, 2, before, 3));
            (lied, refused) = (target.Multicast.ReceivedOf(2), counters.Refused(RefusalReason.NotEntitled) - refused);
            target.Flush.OnFrame(0, FrameType.Forward, Forwarded(Number, 2, before, 3));
            told = target.Multicast.ReceivedOf(2);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.Equal((before, 1, before + 3), (lied, refused, told));
    }

    [Fact]
    public void Reports_in_a_view_in_which_nobody_is_initialised_are_judged_by_the_leaders_own()
    {
        using var cluster = new GroupCluster(76, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var member = cluster.Members.Single(m => m.Group!.Rank == 0);
        long refused = -1;
        member.SimNode.Post(() =>
        {
            var group = member.Group!.Protocol;
            var view = group.View!;
            view = new View(view.Group, view.Name, view.Id, view.Proposal, view.Options, [.. view.Members.Select(m => m with { Initialised = false })], [], [], [], []);
            var all = new Participants(view);
            all.Begin(new Proposal(view.Group, Number, view.Id, [.. view.Members.Select(m => m.Id)], [], []));
            var leader = new FlushLeader(group, group.Flush, view, all.Proposal!, all);
            var own = group.Multicast.Report(Number);
            leader.OnReport(own);
            var counters = member.SimNode.Node.Counters;
            long before = counters.Refused(RefusalReason.Unexpected);
            leader.OnReport(new FlushReport(Number, 2, true, 3) { OrderBase = own.OrderLength + 1, OrderClosed = own.OrderLength + 1 });
            refused = counters.Refused(RefusalReason.Unexpected) - before;
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.Equal(1, refused);
    }

    [Fact]
    public void What_a_flush_leader_forwards_below_a_cut_of_its_own_is_bounded()
    {
        using var cluster = new GroupCluster(68, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        var target = rank[1].Group!.Protocol;
        var counters = rank[1].SimNode.Node.Counters;
        uint before = target.Multicast.ReceivedOf(2), stored = 0, large = 0, all = 0;
        rank[1].SimNode.Post(() =>
        {
            var view = target.View!;
            target.OnPropose(new Proposal(view.Group, Number, view.Id, [.. view.Members.Select(m => m.Id)], [], []));
            uint length = target.Multicast.Report(Number).OrderLength;
            var cut = new FlushCut(Number, 3) { OrderFrom = length, OrderLength = length };
            cut.Upto[0] = cut.Upto[2] = int.MaxValue;
            var body = new byte[cut.Size];
            cut.Write(body);
            target.Flush.OnFrame(0, FrameType.Cut, body);
            for (int i = 0; i < 20; i++) target.Flush.OnFrame(0, FrameType.Forward, Forwarded(Number, 2, target.Multicast.ReceivedOf(2), 50_000, MessageKind.Whole | MessageKind.Ordered));
            stored = target.Multicast.ReceivedOf(2) - before;
            for (int i = 0; i < 500; i++) target.Flush.OnFrame(0, FrameType.Forward, Forwarded(Number, 0, target.Multicast.ReceivedOf(0), 1, MessageKind.Whole | MessageKind.Ordered, 60_000));
            large = target.Multicast.ReceivedOf(0);
            for (int i = 0; i < 4_500; i++) target.Flush.OnFrame(0, FrameType.Forward, Forwarded(Number, 0, target.Multicast.ReceivedOf(0), 1, MessageKind.Whole | MessageKind.Ordered, 60_000));
            all = target.Multicast.ReceivedOf(0);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        // All that a member and a holder may have of a sender at once, and the backlog of a joiner.
        Assert.InRange(stored, 2u * (16_384 + ushort.MaxValue + 65_536), 350_000u);
        Assert.Equal(500u, large);
        Assert.InRange(all, 2_000u, 3_500u);
        Assert.True(counters.Refused(RefusalReason.Unexpected) > 1_000);
    }

    [Fact]
    public void What_a_member_sends_beyond_what_may_wait_for_handlers_is_refused()
    {
        var gate = new TaskCompletionSource();
        int handled = 0;
        using var cluster = new GroupCluster(69, 3, more: g => g.HandleAsync<byte[]>("hang", async (from, m) =>
        {
            if (!gate.Task.IsCompleted) await gate.Task.ConfigureAwait(false);
            handled++;
        }));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        var target = rank[0].Group!.Protocol;
        uint hang = target.Table.Resolve("g", "hang", typeof(byte[]), null).Id, sent = 0;
        var counters = rank[0].SimNode.Node.Counters;
        // All that an honest member can have under way: its window, the message that fills it, and what its handlers sent.
        Lie(68, 1_000_000);
        Lie(32_768, 64);
        Assert.Equal(0, counters.Refused(RefusalReason.Unexpected));
        Lie(200_000, 0);
        Assert.InRange(target.Dispatcher.Added, 36_864, 120_000);
        Assert.InRange(counters.Refused(RefusalReason.Unexpected), 80_000, 200_000);
        // Another member's messages go on, and so do the liar's when those in the queue are handled.
        _ = cluster.Simulation.Spawn(() => rank[1].Group!.SendToAsync(0, "hang", Array.Empty<byte>()).AsTask());
        cluster.Simulation.After(TimeSpan.FromMilliseconds(50), gate.SetResult);
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        int first = handled;
        Assert.Equal(sent + 1 - counters.Refused(RefusalReason.Unexpected), first);
        Lie(10, 0);
        Assert.Equal(first + 10, handled);

        void Lie(int count, int bytes)
        {
            rank[0].SimNode.Post(() =>
            {
                var body = new byte[9 + 5 + bytes];
                BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(5), hang);
                body[9] = 0xC6;
                BinaryPrimitives.WriteInt32BigEndian(body.AsSpan(10), bytes);
                for (int i = 0; i < count; i++)
                {
                    BinaryPrimitives.WriteUInt32LittleEndian(body, sent++);
                    target.Peers.OnPeer(2, body);
                }
                target.Touch();
            });
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        }
    }

    /// <summary>Parts in the order in which they come, each with its number of bytes; a frame may end between them.</summary>
    [Theory]
    [InlineData("whole, first full, none full | last 1", true)]
    [InlineData("first full | last full, whole", true)]
    [InlineData("first 0, last 0", false)]
    [InlineData("first 65519, last 1", false)]
    [InlineData("first full, none 1, last 1", false)]
    [InlineData("last 1", false)]
    [InlineData("none full", false)]
    [InlineData("first full | whole", false)]
    [InlineData("first full, first full", false)]
    public void A_part_that_is_not_the_last_is_full_and_follows_what_it_is_a_part_of(string parts, bool taken)
    {
        using var cluster = new GroupCluster(70, 3, more: static g => g.OnError(static error => { }));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var member = cluster.Members.Single(m => m.Group!.Rank == 0);
        var target = member.Group!.Protocol;
        var counters = member.SimNode.Node.Counters;
        string[] frames = parts.Split(" | ");
        uint before = 0, whole = 0, after = 0;
        long refused = 0;
        member.SimNode.Post(() =>
        {
            before = target.Multicast.ReceivedOf(2);
            for (int i = 0; i < frames.Length; i++)
            {
                whole = target.Multicast.ReceivedOf(2);
                refused = counters.Refused(RefusalReason.Malformed);
                target.Multicast.OnData(2, Parts(frames[i]), wedged: false);
            }
            (after, refused) = (target.Multicast.ReceivedOf(2), counters.Refused(RefusalReason.Malformed) - refused);
            target.Touch();
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        // Nothing of a refused frame is stored.
        if (taken) Assert.Equal((before + (uint)parts.Split(',', '|').Length, 0), (after, refused));
        else Assert.Equal((whole, 1), (after, refused));

        byte[] Parts(string frame)
        {
            string[] records = frame.Split(", ");
            var body = new byte[ViewMulticast.DataHead + records.Sum(static record => 8 + BytesOf(record))];
            BinaryPrimitives.WriteUInt16LittleEndian(body, 2);
            BinaryPrimitives.WriteUInt16LittleEndian(body.AsSpan(2), (ushort)records.Length);
            BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(4), target.Multicast.ReceivedOf(2));
            int at = ViewMulticast.DataHead;
            foreach (string record in records) at += MessageRecord.Write(body.AsSpan(at), Enum.Parse<MessageKind>(record.Split(' ')[0], ignoreCase: true), 1, 0, new byte[BytesOf(record)]);
            return body;
        }

        static int BytesOf(string record) => record.Split(' ') is [_, var bytes] ? bytes == "full" ? GroupLimits.FragmentBytes : int.Parse(bytes, System.Globalization.CultureInfo.InvariantCulture) : 0;
    }

    /// <summary>Rank 2's message counts on positions that the sequencer has not given, and further messages fill its window behind it.</summary>
    [Theory]
    [InlineData(1u, 0)]
    [InlineData(1u, 50)]
    [InlineData(200_000u, 0)]
    [InlineData((uint)int.MaxValue, 50)]
    [InlineData(uint.MaxValue, 0)]
    public void A_message_that_counts_on_positions_that_nobody_gave_stops_only_its_sender_and_costs_nobody_else_his_place(uint beyond, int behind)
    {
        using var cluster = new GroupCluster(new Simulation(new SimulationOptions { Seed = 71, ReplayCommand = "seed 71" }), 4, more: static g => g.OnError(static error => { }),
            options: new() { SlowMember = SlowMember.Evict, SlowMemberTimeout = TimeSpan.FromSeconds(3) });
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var rank = cluster.Members.OrderBy(m => m.Group!.Rank).ToList();
        Send(0, 1, 2, 3);
        rank[2].SimNode.Post(() =>
        {
            var group = rank[2].Group!.Protocol;
            uint first = group.Multicast.ReceivedOf(2), length = group.Multicast.Report(Number).OrderLength;
            SendLie(group, first, MessageKind.Whole | MessageKind.Ordered, beyond == uint.MaxValue ? beyond : length + beyond, 0);
            for (int i = 0; i < behind; i++) SendLie(group, ++first, MessageKind.Whole, 0, 60_000);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        // A message that counts on far more positions than there can be is not even stored.
        Assert.Equal(beyond < 100_000, rank[1].Group!.Protocol.Multicast.ReceivedOf(2) > 10);
        cluster.Simulation.Run(TimeSpan.FromSeconds(8));
        Send(0, 1, 3);
        Assert.Contains((rank[2].Id, Suspicion.FlushStall), cluster.Oracle.Suspicions);
        Assert.All(cluster.Oracle.Suspicions, a => Assert.Equal(rank[2].Id, a.Subject));

        void Send(params int[] senders)
        {
            int open = 10 * senders.Length;
            for (int i = 0; i < 10; i++)
            {
                foreach (int sender in senders)
                {
                    _ = cluster.Simulation.Spawn(async () =>
                    {
                        await rank[sender].SendAsync(ordered: true);
                        open--;
                    });
                }
                cluster.Simulation.Run(TimeSpan.FromMilliseconds(5));
            }
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(500));
            Assert.Equal(0, open);
        }
    }

    private static void SendLie(GroupCore.Groups.Views.GroupProtocol group, uint first, MessageKind kind, uint dep, int bytes)
    {
        var frame = group.Links.Frame(FrameType.Data, ViewMulticast.DataHead + MessageRecord.HeadOf(kind) + bytes);
        BinaryPrimitives.WriteUInt16LittleEndian(frame, (ushort)group.Rank);
        BinaryPrimitives.WriteUInt16LittleEndian(frame[2..], 1);
        BinaryPrimitives.WriteUInt32LittleEndian(frame[4..], first);
        MessageRecord.Write(frame[ViewMulticast.DataHead..], kind, 1, dep, new byte[bytes]);
        group.Links.SendToOthers();
    }

    /// <summary>A Forward of messages that nobody sent.</summary>
    private static byte[] Forwarded(ulong proposal, int sender, uint first, int count, MessageKind kind = MessageKind.Whole, int bytes = 0)
    {
        const int head = 16;
        int record = MessageRecord.HeadOf(kind) + bytes;
        var payload = new byte[bytes];
        var body = new byte[head + (count * record)];
        BinaryPrimitives.WriteUInt64LittleEndian(body, proposal);
        BinaryPrimitives.WriteUInt16LittleEndian(body.AsSpan(8), (ushort)sender);
        BinaryPrimitives.WriteUInt16LittleEndian(body.AsSpan(10), (ushort)count);
        BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(12), first);
        for (int at = head; at < body.Length; at += record) MessageRecord.Write(body.AsSpan(at), kind, 1, uint.MaxValue, payload);
        return body;
    }

    private static byte[] Written(FlushReport truth, string lie)
    {
        var report = new FlushReport(truth.Proposal, truth.Rank, true, truth.Received.Length)
        {
            OrderBase = lie.StartsWith("a base", StringComparison.Ordinal) ? truth.OrderLength + 7 : truth.OrderBase,
        };
        report.OrderClosed = report.OrderBase;
        if (report.OrderBase == truth.OrderBase)
            foreach (var (rank, seq) in truth.Order) report.Order.Add(lie.StartsWith("other", StringComparison.Ordinal) ? (rank, seq + 1) : (rank, seq));
        if (lie.StartsWith("more", StringComparison.Ordinal)) report.Order.Add((1, 0));
        var body = new byte[report.Size];
        report.Write(body);
        return body;
    }

    private static void SayWait(TestMember member, int named = -1, TestMember? to = null, WaitReason reason = WaitReason.None) => member.SimNode.Post(() =>
    {
        var group = member.Group!.Protocol;
        ulong wedge = (to ?? member).Group!.Protocol.Flush.Wedge;
        if (wedge == 0) return;
        var frame = group.Links.Frame(FrameType.FlushWait, named < 0 ? 9 : 11);
        BinaryPrimitives.WriteUInt64LittleEndian(frame, wedge);
        frame[8] = (byte)reason;
        if (named >= 0) BinaryPrimitives.WriteUInt16LittleEndian(frame[9..], (ushort)named);
        group.Links.SendTo(0);
    });
}
