using System.Buffers;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Oracle.Frames;
using Oracle.Raft;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>Well-formed frames with values that do not fit, or from senders without authority. They are refused where bytes become frames, and have no effect.</summary>
public sealed class HostileFrameTests
{
    private static readonly ProcessId A = new(11, 3), B = new(12, 4);
    private static readonly Replica Good = LogBus.ReplicaOf(5);

    public static TheoryData<string> BadAddresses => ["x", "", "localhost", "127.0.0.1", "127.0.0.1:0", "0.0.0.0:7700", "[::]:7700", "127.0.0.1:65536", "::1:7700", "example.org:7700"];

    [Theory]
    [MemberData(nameof(BadAddresses))]
    public void F1_a_frame_with_an_address_that_nobody_can_dial_is_malformed(string text)
    {
        var bad = new NodeAddress(text);
        var replica = new Replica(7, bad);
        var member = new ViewMember(A, bad, true, "");
        foreach (IFrame frame in (IFrame[])
        [
            new OracleIs(new([replica], []), default), new OracleIs(new([Good], []), replica), new SyncAnswer(new([Good], [replica]), default, [], ""),
            new SyncAnswer(new([Good], []), replica, [], ""), new ResponseFrame(1, ResponseStatus.NotLeader, OperationResult.Completed, replica),
            new LeaseGrant(1, new([replica], []), 1, null), new LeaseGrant(1, new([Good], []), 1, [new(A, bad, 0, 0)]),
            new ProposeFrame(new(new(1, 2), 9, 4, [], [], [member])), new InstallFrame(new(new(1, 2), "g", 1, 9, new(), [member], [], [], [], [])),
            new AppendRequest(1, 0, 0, [new(1, EntryKind.Configuration, ConfigurationCodec.Write(new([replica], [])))], 0, 0),
            new SnapshotChunk(1, 2, 1, new([replica], []), 0, 1, new byte[1]), new RequestFrame(new(A, 0, 1, new Register(11, bad, "", "", 0, 0, Durations.Second))),
        ])
            Assert.False(Reads(frame), frame.ToString());
    }

    [Fact]
    public void F1_what_names_something_twice_or_contradicts_itself_is_malformed()
    {
        ViewMember first = new(A, Good.Address, true, ""), second = new(B, Good.Address, false, "");
        foreach (IFrame frame in (IFrame[])
        [
            new OracleIs(new([Good, Good], []), default), new OracleIs(new([Good], [Good]), default), new OracleIs(new([new(0, Good.Address)], []), default),
            new OracleIs(new([Good], []), new(0, Good.Address)),
            new AppendRequest(1, 0, 0, [new(1, EntryKind.Configuration, ConfigurationCodec.Write(Configuration.Empty))], 0, 0),
            new SnapshotChunk(1, 2, 1, Configuration.Empty, 0, 1, new byte[1]),
            new OracleIs(new([.. Many(20, 4)], [.. Many(30, 13)]), default),
            new AppendRequest(1, 0, 0, [new(1, EntryKind.Configuration, ConfigurationCodec.Write(new([.. Many(20, 4)], [.. Many(30, 13)])))], 0, 0),
            new AppendRequest(1, 0, 0, [new(1, EntryKind.Operations, OperationCodec.WriteEntry([new(default, 0, 0, new Register(0, Good.Address, "", "", 0, 0, Durations.Second))]))], 0, 0),
            new AppendRequest(1, 0, 0, [new(1, EntryKind.Noop, new byte[1])], 0, 0), new AppendRequest(1, 0, 0, [new(2, EntryKind.Noop, [])], 0, 0),
            new SnapshotChunk(1, 2, 2, new([Good], []), 0, 1, new byte[1]),
            new AppendRequest(ulong.MaxValue, 0, 0, [], 0, 0), new SnapshotChunk(1, ulong.MaxValue, 1, new([Good], []), 0, 1, new byte[1]), new VoteReply(false, ulong.MaxValue, true),
            new ProposeFrame(new(new(1, 2), 9, 4, [A, A], [], [])), new ProposeFrame(new(new(1, 2), 9, 4, [A], [A], [])), new ProposeFrame(new(new(1, 2), 9, 4, [A], [], [first])),
            Install([first, first]), Install([first], id: 0), Install([first], name: ""), Install([first], joined: [B]), Install([first], failed: [A]), Install([first], left: [A]),
            Install([first, second], moved: [new(A, 1, 1)]), Install([first], moved: [new(B, 1, 0)]), Install([first, second], moved: [new(B, 1, 1)]),
        ])
            Assert.False(Reads(frame), frame.ToString());
        Assert.True(Reads(Install([first, second], joined: [A], moved: [new(B, 5, 1)])));
        Assert.True(Reads(new OracleIs(new([.. Many(20, 4)], [.. Many(30, 12)]), default)));
    }

    private static IEnumerable<Replica> Many(ulong first, int count) => Enumerable.Range(0, count).Select(i => LogBus.ReplicaOf(first + (ulong)i));

    /// <summary>In the log, such an operation would end every node that applies it.</summary>
    [Fact]
    public void F1_operations_that_cannot_be_read_do_not_come_into_the_log()
    {
        var entry = OperationCodec.WriteEntry([new(A, 1, 1, new Leave(new(1, 2)))]);
        Assert.True(Reads(new AppendRequest(1, 0, 0, [new(1, EntryKind.Operations, entry)], 0, 0)));
        foreach (byte[] bytes in (byte[][])[[], [0xC1], entry[..^1], [0xDD, 0xFF, 0xFF, 0xFF, 0xFF]])
            Assert.False(Reads(new AppendRequest(1, 0, 0, [new(1, EntryKind.Noop, []), new(1, EntryKind.Operations, bytes)], 0, 0)));
    }

    /// <summary>Each invalid byte would become three when the text is written again, and the text would be too long for its next readers.</summary>
    [Fact]
    public void F1_text_that_is_not_UTF8_is_malformed()
    {
        byte[] bytes = Write(new RequestFrame(new(A, 1, 1, new Join(new string('n', 100), new(), 0, ""))));
        Assert.True(FrameCodec.TryRead(FrameType.OracleRequest, bytes, out _, out _));
        bytes.AsSpan(bytes.AsSpan().IndexOf("nnn"u8), 100).Fill(0xFF);
        Assert.False(FrameCodec.TryRead(FrameType.OracleRequest, bytes, out _, out _));
    }

    [Fact]
    public void F1_a_saved_state_that_contradicts_itself_is_refused()
    {
        foreach (bool twice in (bool[])[false, true])
        {
            var state = new OracleState(new Silent(), OracleRules.All);
            ulong index = 0;
            for (ulong node = 1; node <= 3; node++)
                state.Apply(++index, OperationCodec.WriteEntry([new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second))]));
            var ids = state.Processes.Select(process => process.Id).ToList();
            state.Apply(++index, OperationCodec.WriteEntry([new(ids[0], 1, 0, new Join("g", new(), 0, "")), new(ids[1], 1, 0, new Join("g", new(), 0, ""))]));
            if (twice) state.FindGroup("g")!.Queue.Add(new(ids[1], ""));
            var saved = new ArrayBufferWriter<byte>();
            state.Save(saved);
            Assert.Equal(!twice, new OracleState(new Silent(), OracleRules.All).TryRestore(saved.WrittenSpan));
        }
    }

    /// <summary>Nobody could make a replica of a process without a node.</summary>
    [Fact]
    public void F1_a_saved_process_without_a_node_is_refused()
    {
        var state = new OracleState(new Silent(), OracleRules.All);
        state.Apply(1, OperationCodec.WriteEntry([new(default, 0, 0, new Register(7, Good.Address, "", "", 0, 0, Durations.Second))]));
        var saved = new ArrayBufferWriter<byte>();
        state.Save(saved);
        Assert.True(new OracleState(new Silent(), OracleRules.All).TryRestore(saved.WrittenSpan));
        Assert.False(new OracleState(new Silent(), OracleRules.All).TryRestore(Replaced(saved.WrittenSpan.ToArray(), [0x9D, 7, 1], [0x9D, 0, 1])));
    }

    /// <summary>If an existing group is lost later, its id must belong to no other lost group, at every replica that applies the loss.</summary>
    [Theory]
    [InlineData(2, 6, true)]
    [InlineData(1, 5, false)]
    [InlineData(3, 6, false)]
    [InlineData(0, 6, false)]
    public void F1_a_saved_state_whose_lost_group_is_there_or_to_come_is_refused(byte number, byte incarnation, bool taken)
    {
        var state = new OracleState(new Silent(), OracleRules.All);
        ulong index = 0;
        for (ulong node = 1; node <= 3; node++)
            state.Apply(++index, OperationCodec.WriteEntry([new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second))]));
        var ids = state.Processes.Select(process => process.Id).ToList();
        state.Apply(++index, OperationCodec.WriteEntry([new(default, 0, 0, new Exclude([]))]));
        state.Apply(++index, OperationCodec.WriteEntry([new(ids[0], 1, 0, new Join("there", new(), 0, ""))]));
        state.Apply(++index, OperationCodec.WriteEntry([new(ids[1], 1, 0, new Join("lost", new(), 0, ""))]));
        state.Apply(++index, OperationCodec.WriteEntry([new(default, 0, 0, new Exclude([new(ids[1], false)]))]));
        Assert.Equal((2u, 6ul), (state.Lost.Single().Id.Number, state.Lost.Single().Id.Incarnation));
        var saved = new ArrayBufferWriter<byte>();
        state.Save(saved);
        byte[] name = [0xA4, .. "lost"u8];
        Assert.Equal(taken, new OracleState(new Silent(), OracleRules.All).TryRestore(Replaced(saved.WrittenSpan.ToArray(), [2, 6, .. name], [number, incarnation, .. name])));
    }

    /// <summary>Follows the length, the format, the index and the version, which take a byte each here.</summary>
    private const int LastGroupAt = 4;

    /// <summary>The false statement of a saved state about the pending change of a group, or about the groups that were founded.</summary>
    public enum Lie
    {
        None, JoinerWithoutRecord, JoinerNotQueued, SurvivorNotMember, MemberLeftOut, FailedTwice, NumberToCome, NumbersUsedUp, NumberZero,
    }

    [Theory]
    [InlineData(Lie.None)]
    [InlineData(Lie.JoinerWithoutRecord)]
    [InlineData(Lie.JoinerNotQueued)]
    [InlineData(Lie.SurvivorNotMember)]
    [InlineData(Lie.MemberLeftOut)]
    [InlineData(Lie.FailedTwice)]
    [InlineData(Lie.NumberToCome)]
    [InlineData(Lie.NumbersUsedUp)]
    [InlineData(Lie.NumberZero)]
    public void F1_a_saved_change_of_others_than_its_group_is_refused(Lie lie)
    {
        var state = new OracleState(new Silent(), OracleRules.All);
        ulong index = 0;
        for (ulong node = 1; node <= 3; node++)
            state.Apply(++index, OperationCodec.WriteEntry([new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second))]));
        var ids = state.Processes.Select(process => process.Id).ToList();
        state.Apply(++index, OperationCodec.WriteEntry([new(ids[0], 1, 0, new Join("g", new(), 0, "")), new(ids[1], 1, 0, new Join("g", new(), 0, ""))]));
        state.Apply(++index, OperationCodec.WriteEntry([new(ids[2], 1, 0, new Join("h", new(), 0, ""))]));
        var group = state.FindGroup("g")!;
        var honest = group.Pending!;
        var (stranger, address) = (new ProcessId(99, 5), LogBus.ReplicaOf(9).Address);
        group.Pending = lie switch
        {
            Lie.JoinerWithoutRecord => honest with { Proposal = honest.Proposal with { Joiners = [new(stranger, address, false, "")] } },
            Lie.JoinerNotQueued => honest with { Proposal = honest.Proposal with { Joiners = [.. honest.Proposal.Joiners, new(ids[2], address, false, "")] } },
            Lie.SurvivorNotMember => honest with { Proposal = honest.Proposal with { Survivors = [.. honest.Proposal.Survivors, ids[2]] } },
            Lie.MemberLeftOut => honest with { Proposal = honest.Proposal with { Survivors = [] } },
            Lie.FailedTwice => honest with { Failed = [ids[0], ids[0]] },
            _ => honest,
        };
        var saved = new ArrayBufferWriter<byte>();
        state.Save(saved);
        byte[] bytes = saved.WrittenSpan.ToArray();
        Assert.Equal(2, bytes[LastGroupAt]);
        bytes = lie switch
        {
            Lie.NumberToCome => [.. bytes[..LastGroupAt], 1, .. bytes[(LastGroupAt + 1)..]],
            // The next number would be 0, and the one after it that of an existing group.
            Lie.NumbersUsedUp => [.. bytes[..LastGroupAt], 0xCE, 0xFF, 0xFF, 0xFF, 0xFF, .. bytes[(LastGroupAt + 1)..]],
            // The number of group h, in its record and in its view.
            Lie.NumberZero => Replaced(Replaced(bytes, [0x99, 2, (byte)index], [0x99, 0, (byte)index]), [2, (byte)index, 0xA1, (byte)'h'], [0, (byte)index, 0xA1, (byte)'h']),
            _ => bytes,
        };
        Assert.Equal(lie == Lie.None, new OracleState(new Silent(), OracleRules.All).TryRestore(bytes));
    }

    private static byte[] Replaced(byte[] bytes, byte[] old, byte[] by)
    {
        int at = bytes.AsSpan().IndexOf(old);
        Assert.True(at >= 0 && bytes.AsSpan(at + 1).IndexOf(old) < 0);
        return [.. bytes[..at], .. by, .. bytes[(at + old.Length)..]];
    }

    /// <summary>The same frame through a link of the simulator, which accepts the same addresses as real links.</summary>
    [Fact]
    public void F1_a_stranger_who_names_an_address_that_does_not_parse_is_refused_and_the_node_serves_on()
    {
        using var cluster = Founded(1);
        var stranger = cluster.Simulation.AddNode("stranger");
        var system = cluster[0].Oracle.System;
        Say(cluster, stranger, new RequestFrame(new(new(stranger.Id, 0), 0, 1, new Register(stranger.Id, new("x"), "", "", 0, 0, Durations.Second))), system);
        Say(cluster, stranger, new OracleIs(new([new(stranger.Id, new("x"))], []), new(stranger.Id, new("x"))), system);
        cluster.Run(1);
        Assert.Equal(2, cluster[0].Node.Node.Counters.Refused(RefusalReason.Malformed));
        Assert.Single(cluster[0].Oracle.Replica!.State.Processes);
        Joins(cluster, 1);
    }

    /// <summary>A stranger with the right system id asks one of five processes to probe hundreds of others, and tells of as many leaders.</summary>
    [Fact]
    public void F1_no_frame_of_a_stranger_opens_links()
    {
        using var cluster = Founded(5);
        var stranger = cluster.Simulation.AddNode("stranger");
        int before = cluster[0].Node.Links.Ends.Count;
        foreach (var system in (SystemId[])[new(7, 8), default, cluster[0].Oracle.System])
        {
            for (ulong node = 1; node <= 300; node++)
            {
                if (node % 100 == 0) cluster.Run(0.2);
                var other = new Replica(node, new($"10.9.{node / 250}.{node % 250}:7700"));
                Say(cluster, stranger, new IndirectProbeFrame(false, node), system);
                Say(cluster, stranger, new OracleIs(new([other], []), other), system);
                Say(cluster, stranger, new SyncAnswer(new([other], []), new(stranger.Id, stranger.Address), [], ""), system);
                Say(cluster, stranger, new ResponseFrame(1, ResponseStatus.NotLeader, OperationResult.Completed, other), system);
                Say(cluster, stranger, new LeaseGrant(0, new([other], []), 1, [new(new(node, 5), other.Address, 0, 0)]), system);
                Say(cluster, stranger, new InstallFrame(new(new(1, 2), "g", 1, 9, new(), [new(cluster[0].Oracle.Self, cluster[0].Node.Address, true, ""), new(new(node, 5), other.Address, true, "")], [], [], [], [])), system);
            }
            cluster.Run(2);
        }
        Assert.Equal(before + 1, cluster[0].Node.Links.Ends.Count);
        Joins(cluster, 5);
    }

    /// <summary>The frames have some 20 bytes each. If each made the leader count all processes, a turn with thousands of frames would take seconds.</summary>
    [Fact]
    public void F1_a_node_that_tells_of_other_systems_does_not_have_the_processes_counted_each_time()
    {
        const int frames = 1_000;
        using var cluster = Founded(12);
        var leader = cluster.Leader!;
        var stranger = cluster.Simulation.AddNode("stranger");
        foreach (var (named, most) in ((Configuration, long)[])[(Configuration.Empty, 0), (new([Good], []), 0), (new([.. Many(20, 2)], []), 2 * frames)])
        {
            long before = leader.Oracle.Replica!.Services.Looked;
            for (int i = 0; i < frames; i++) Say(cluster, stranger, new OracleIs(named, default), new(0, 1), leader);
            cluster.Run(0.5);
            Assert.InRange(leader.Oracle.Replica!.Services.Looked - before, 0, most);
        }
        Assert.Equal(3 * frames, leader.Node.Node.Counters.Refused(RefusalReason.WrongCluster));
        Joins(cluster, 12);
    }

    [Fact]
    public void F1_what_a_stranger_claims_of_the_Oracle_changes_nothing()
    {
        using var cluster = Founded(3);
        var stranger = cluster.Simulation.AddNode("stranger");
        var (log, system) = (cluster[0].Oracle.Replica!.Log, cluster[0].Oracle.System);
        ulong term = log.Term;
        foreach (IFrame frame in (IFrame[])
        [
            new ExcludedFrame(cluster[0].Oracle.Self, "go"), new AppendRequest(term + 9, log.Entries.LastIndex, log.Term, [new(term + 9, EntryKind.Noop, [])], 1 << 30, 0),
            new VoteRequest(false, term + 9, 1 << 30, term + 8, true), new AppendReply(term + 9, true, 9, 9), new TimeoutNow(log.Term),
            new SnapshotChunk(term + 9, 1 << 30, 1, new([new(stranger.Id, stranger.Address)], []), 0, 1, new byte[1]),
            new SuspectFrame(cluster[1].Oracle.Self, false, Suspicion.ProcessGone, 0),
        ])
            Say(cluster, stranger, frame, system);
        cluster.Run(5);
        Assert.Equal(term, log.Term);
        Joins(cluster, 3);
    }

    /// <summary>
    /// Only processes that were asked whether they reach a silent one may answer. Otherwise a stranger, even under its own name, could keep the frozen process in all its
    /// groups, which wait for it.
    /// </summary>
    [Fact]
    public void What_a_stranger_answers_for_a_process_that_is_frozen_does_not_keep_it_in_the_system()
    {
        using var cluster = Founded(5);
        var stranger = cluster.Simulation.AddNode("stranger");
        var frozen = cluster.Alive.Last(process => process != cluster.Leader);
        frozen.Node.Pause(TimeSpan.FromHours(1));
        for (int again = 0; again < 100; again++)
        {
            foreach (var watcher in cluster.Alive.Where(one => one != frozen)) Say(cluster, stranger, new IndirectProbeFrame(true, frozen.Node.Id), frozen.Oracle.System, watcher);
            cluster.Run(0.02);
        }
        Assert.False(cluster.Leader!.Oracle.Replica!.State.IsAlive(frozen.Oracle.Self), cluster.Describe());
        Assert.True(cluster.Leader.Node.Node.Counters.Refused(RefusalReason.WrongSender) > 0);
        cluster.AssertNoViolations();
    }

    /// <summary>
    /// The stranger listens at the address that it names, and sends higher terms. If the voters listened to it, they would become its followers, and it their only voter.
    /// </summary>
    [Fact]
    public void While_no_leader_is_heard_the_log_listens_to_those_that_are_registered()
    {
        using var cluster = Founded(5);
        var stranger = cluster.Simulation.AddNode("stranger");
        var (leader, self) = (cluster.Leader!, new Replica(stranger.Id, stranger.Address));
        var voters = cluster.Alive.Where(process => process != leader && leader.Oracle.Replica!.Log.Entries.Configuration.IsVoter(process.Node.Id)).ToList();
        leader.Node.Pause(TimeSpan.FromSeconds(30));
        for (int again = 0; again < 40; again++)
        {
            foreach (var voter in voters)
            {
                var log = voter.Oracle.Replica!.Log;
                ulong term = log.Term + 1_000;
                Say(cluster, stranger, new AppendRequest(term, log.Entries.LastIndex, log.Entries.LastTerm, [new(term, EntryKind.Configuration, ConfigurationCodec.Write(new([self], [])))], log.Entries.LastIndex + 1, 0), leader.Oracle.System, voter);
            }
            cluster.Run(0.05);
        }
        Assert.All(voters, voter => Assert.False(voter.Oracle.Replica!.Log.Entries.Configuration.Contains(stranger.Id), cluster.Describe()));
        Assert.Contains(cluster.Leader, voters);
        cluster.AssertNoViolations();
    }

    /// <summary>
    /// One of the unknown senders could be a voter of a configuration that a cut-off replica has missed. So the replica asks for a few of them, and for others the next time.
    /// </summary>
    [Fact]
    public void A_replica_that_hears_no_leader_for_long_asks_for_a_few_unknown_senders_until_it_hears_a_leader()
    {
        using var cluster = Founded(3);
        var leader = cluster.Leader!;
        var voter = cluster.Alive.First(process => process != leader);
        foreach (var other in cluster.Alive.Where(other => other != voter)) other.Node.Pause(TimeSpan.FromSeconds(5));
        var strangers = Enumerable.Range(0, 20).Select(i => cluster.Simulation.AddNode($"stranger{i}")).ToList();
        // They have dialled in, and nobody can dial them.
        foreach (var stranger in strangers) voter.Node.Links.Doubted.Add(stranger.Address);
        Speak();
        cluster.Run(2);
        Speak();
        cluster.Run(0.5);
        Assert.Equal((MembershipState.Active, 0), (voter.Oracle.State, voter.Oracle.AskedFor));
        Assert.True(cluster.RunUntil(() => voter.Oracle.State == MembershipState.Blocked, 3), cluster.Describe());
        Speak();
        cluster.Run(0.5);
        Assert.Equal(Limits.Replicas, voter.Oracle.AskedFor);
        Assert.True(cluster.RunUntil(() => cluster.Leader is not null && cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        Assert.Equal(0, voter.Oracle.AskedFor);
        Joins(cluster, 3);

        void Speak()
        {
            foreach (var stranger in strangers) Say(cluster, stranger, new VoteRequest(true, 9, 0, 0, false), leader.Oracle.System, voter);
        }
    }

    /// <summary>
    /// Two voters do not hear each other, and the third is dead; nobody is connected in its name. With votes in its name each of the two would lead, and commit what the other
    /// does not have.
    /// </summary>
    [Fact]
    public void Votes_and_acknowledgements_in_the_name_of_a_voter_that_is_dead_count_for_nothing()
    {
        using var cluster = Founded(3);
        var leader = cluster.Leader!;
        var (other, dead) = (cluster.Alive.First(process => process != leader), cluster.Alive.Last(process => process != leader));
        var (system, commit) = (leader.Oracle.System, leader.Oracle.Replica!.Log.Commit);
        cluster.Simulation.Network.Cut(leader.Node, other.Node);
        cluster.Simulation.Network.Cut(other.Node, leader.Node);
        dead.Node.Crash();
        // Its host refuses dials.
        cluster.Run(0.3);
        leader.Node.Post(() => leader.Oracle.Join("late", new(), ""));
        for (int again = 0; again < 250; again++)
        {
            foreach (var to in (OracleCluster.Process[])[leader, other])
            {
                var log = to.Oracle.Replica!.Log;
                for (ulong read = 0; read < 400; read += 40) InName(to, dead, new AppendReply(log.Term, true, log.Entries.LastIndex, read), system);
                InName(to, dead, new VoteReply(true, log.Term + 1, true), system);
                InName(to, dead, new VoteReply(false, log.Term, true), system);
            }
            cluster.Run(0.02);
        }
        cluster.AssertNoViolations();
        Assert.All(cluster.Alive, process => Assert.Equal(commit, process.Oracle.Replica!.Log.Commit));
        Assert.Null(cluster.Leader);
    }

    /// <summary>As over a link that somebody dialled in under that name, with nothing to confirm it.</summary>
    private static void InName(OracleCluster.Process to, OracleCluster.Process of, IFrame frame, SystemId system) => to.Node.Post(() =>
    {
        to.Node.Links.Doubted.Add(of.Node.Address);
        int peer = to.Node.Links.Open(of.Node.Address, of.Node.Id);
        byte[] body = Write(frame, system);
        if (to.Node.Links.NodeIdOf(peer) == of.Node.Id) to.Oracle.OnFrame(peer, new FrameHeader(body.Length + 8, FrameHeader.Version, frame.Type, 0, 0), body);
    });

    /// <summary>The hostile process is registered, but no replica. The log listens only to its replicas, and the Oracle only to members about their groups.</summary>
    [Fact]
    public void What_a_registered_process_says_in_the_name_of_a_replica_or_of_a_member_changes_nothing()
    {
        using var cluster = Founded(6);
        var leader = cluster.Leader!;
        var log = leader.Oracle.Replica!.Log;
        var hostile = cluster.Alive.Last(process => !log.Entries.Configuration.Contains(process.Node.Id));
        var voter = cluster.Alive.First(process => process != leader && log.Entries.Configuration.IsVoter(process.Node.Id));
        ulong term = log.Term;
        foreach (var to in (OracleCluster.Process[])[leader, voter])
        {
            foreach (IFrame frame in (IFrame[])
            [
                new ExcludedFrame(to.Oracle.Self, "go"), new AppendRequest(term + 9, log.Entries.LastIndex, log.Term, [new(term + 9, EntryKind.Noop, [])], 1 << 30, 0),
                new VoteRequest(false, term + 9, 1 << 30, term + 8, true), new AppendReply(term + 9, true, 9, 9), new SnapshotAck(term + 9, 1, 1), new TimeoutNow(log.Term),
                new SnapshotChunk(term + 9, 1 << 30, 1, new([new(hostile.Node.Id, hostile.Node.Address)], []), 0, 1, new byte[1]),
            ])
                Say(cluster, hostile.Node, frame, to.Oracle.System, to);
        }
        cluster.Run(5);
        Assert.Equal(term, log.Term);
        Assert.Equal(6, cluster.Alive.Count());
        Joins(cluster, 6);
    }

    /// <summary>A node that dialled in says that it is a replica, and nothing confirms it. The log does not listen to it, and goes on with the real replicas.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void What_the_log_takes_comes_over_confirmed_links_only(bool vote)
    {
        using var cluster = Founded(3);
        var leader = cluster.Leader!;
        var (victim, liar) = (cluster.Alive.First(process => process != leader), cluster.Alive.Last(process => process != leader));
        foreach (var end in victim.Node.Links.Ends.Where(end => end.Address == liar.Node.Address)) end.IsDoubted = true;
        var log = victim.Oracle.Replica!.Log;
        ulong term = log.Term;
        Say(cluster, liar.Node, vote ? new VoteRequest(false, term + 9, 1 << 30, term + 8, true)
            : new AppendRequest(term + 9, log.Entries.LastIndex, log.Term, [new(term + 9, EntryKind.Noop, [])], 1 << 30, 0), victim.Oracle.System, victim);
        cluster.Run(2);
        Assert.Equal((term, term), (log.Term, leader.Oracle.Replica!.Log.Term));
        Joins(cluster, 3);
    }

    /// <summary>If the log reached the highest term, no later one could be told to anybody, and nobody would ever lead again.</summary>
    [Fact]
    public void No_frame_brings_the_log_to_a_term_that_is_beyond_reach()
    {
        using var cluster = Founded(3);
        var leader = cluster.Leader!;
        foreach (var one in cluster.Alive.Where(process => process != leader))
        {
            ulong far = 1UL << 62;
            foreach (IFrame frame in (IFrame[])
            [
                new VoteRequest(false, far, far, far, true), new VoteReply(false, far, false), new AppendRequest(far, 0, 0, [], 0, 0), new AppendReply(far, false, 0, 0), new SnapshotAck(far, 0, 0),
                new SnapshotChunk(far, far, 1, new([Good], []), 0, 1, new byte[1]),
            ])
                Say(cluster, one.Node, frame, one.Oracle.System, leader);
        }
        cluster.Run(5);
        Assert.All(cluster.Alive, process => Assert.InRange(process.Oracle.Replica!.Log.Term, 1ul, 100ul));
        Joins(cluster, 3);
    }

    /// <summary>Twelve processes of one host, so that not each watches each. The word of a watcher that a process of its host is gone would be proof.</summary>
    [Fact]
    public void What_a_process_says_of_one_that_it_does_not_watch_is_refused_unless_a_group_of_both_sees_it()
    {
        using var cluster = Founded(12, (_, plain) => plain with { Host = "h" });
        var leader = cluster.Leader!;
        var state = leader.Oracle.Replica!.State;
        var ring = new Leading.MonitoringRing();
        var (hostile, victim) = (from one in cluster.Alive from other in cluster.Alive
                                 where one != other && one != leader && other != leader && !ring.Watches(one.Oracle.Self, other.Oracle.Self, state)
                                 select (one, other)).First();
        foreach (var evidence in Enum.GetValues<Suspicion>())
        {
            long refused = leader.Node.Node.Counters.Refused(RefusalReason.WrongSender);
            Say(cluster, hostile.Node, new SuspectFrame(victim.Oracle.Self, false, evidence, 0), leader.Oracle.System, leader);
            cluster.Run(0.5);
            Assert.Equal(refused + 1, leader.Node.Node.Counters.Refused(RefusalReason.WrongSender));
        }
        cluster.Run(15);
        Assert.Equal(12, cluster.Alive.Count());
        // As a member of the same group, it may say what a group sees.
        foreach (var member in (OracleCluster.Process[])[hostile, victim]) member.Node.Post(() => member.Oracle.Join("both", new(), ""));
        Assert.True(cluster.RunUntil(() => hostile.Groups.ViewOf("both")?.Members.Count == 2, 10), cluster.Describe());
        long before = leader.Node.Node.Counters.Refused(RefusalReason.WrongSender);
        Say(cluster, hostile.Node, new SuspectFrame(victim.Oracle.Self, false, Suspicion.FlushStall, 0), leader.Oracle.System, leader);
        cluster.Run(0.5);
        Assert.Equal(before, leader.Node.Node.Counters.Refused(RefusalReason.WrongSender));
        Say(cluster, hostile.Node, new SuspectFrame(victim.Oracle.Self, false, Suspicion.ProcessGone, 0), leader.Oracle.System, leader);
        cluster.Run(5);
        Assert.Equal(before + 1, leader.Node.Node.Counters.Refused(RefusalReason.WrongSender));
        Joins(cluster, 12);
    }

    /// <summary>A process tells the Oracle itself what it knows of its groups. This one claims to know nothing of thousands of groups, many times in one turn.</summary>
    [Fact]
    public void A_process_that_says_that_it_knows_none_of_its_groups_is_told_of_them_a_share_at_a_time()
    {
        const int groups = 2_000, share = 256 << 10, window = 50;
        using var cluster = Founded(2);
        var leader = cluster.Leader!;
        var hostile = cluster.Alive.Single(process => process != leader);
        string tail = new('n', 100), tag = new('t', 64);
        for (int i = 0; i < groups; i++)
        {
            string name = $"{i}{tail}";
            hostile.Node.Post(() => hostile.Oracle.Join(name, new(), tag));
            if (i % 500 == 499) Assert.True(cluster.RunUntil(() => hostile.Groups.Groups.Count(group => group.View is not null) == i + 1, 20), cluster.Describe());
        }
        cluster.Run(2);
        long bytes = 0;
        var told = new SortedSet<GroupId>();
        leader.Node.WatchFrames((node, sent) =>
        {
            if (sent.Type == FrameType.Install && FrameCodec.TryRead(sent.Type, sent.Body, out _, out var frame)) told.Add(((InstallFrame)frame!).View.Group);
            bytes += sent.Type == FrameType.Install ? sent.Body.Length : 0;
            return Ida.Testing.CrashMoment.None;
        });
        for (int i = 0; i < 100; i++) Say(cluster, hostile.Node, new SyncAsk(hostile.Oracle.Self, []), leader.Oracle.System, leader);
        cluster.Run(window / 1_000.0);
        Assert.InRange(bytes, share / 2, 2 * (share + 1_000));

        // A process that takes none of them in is still told of each in turn; one that does has them all soon.
        told.Clear();
        for (int i = 0; i < 40; i++)
        {
            Say(cluster, hostile.Node, new SyncAsk(hostile.Oracle.Self, []), leader.Oracle.System, leader);
            cluster.Run(0.1);
        }
        Assert.Equal(groups, told.Count);
        told.Clear();
        for (int i = 0; i < 4; i++)
        {
            Say(cluster, hostile.Node, new SyncAsk(hostile.Oracle.Self, [.. told.Select(group => new Known(group, 1, 0))]), leader.Oracle.System, leader);
            cluster.Run(0.1);
        }
        Assert.Equal(groups, told.Count);
    }

    private static OracleCluster Founded(int processes, Func<Ida.Testing.SimNode, OracleOptions, OracleOptions>? shape = null)
    {
        var cluster = new OracleCluster(1, processes, shape: shape);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Lives.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        cluster.Run(3);
        return cluster;
    }

    /// <summary>All processes that were there before are still there and can decide.</summary>
    private static void Joins(OracleCluster cluster, int processes)
    {
        foreach (var process in cluster.Lives) process.Node.Post(() => process.Oracle.Join("after", new(), ""));
        Assert.True(cluster.RunUntil(() => cluster.Alive.Count() == processes && cluster.Settled("after"), 10), cluster.Describe());
        cluster.AssertNoViolations();
    }

    private static InstallFrame Install(ViewMember[] members, ulong id = 2, string name = "g", ProcessId[]? joined = null, ProcessId[]? left = null, ProcessId[]? failed = null, Move[]? moved = null) =>
        new(new(new(1, 2), name, id, 9, new(), members, joined ?? [], left ?? [], failed ?? [], moved ?? []));

    private static void Say(OracleCluster cluster, Ida.Testing.SimNode stranger, IFrame frame, SystemId system, OracleCluster.Process? to = null) => stranger.Post(() =>
    {
        byte[] body = Write(frame, system);
        int peer = stranger.Node.Links.Open((to ?? cluster[0]).Node.Address);
        var room = stranger.Node.Links.Reserve(body.Length + FrameHeader.Size);
        FrameHeader.Write(room, frame.Type, 0, 0, body.Length);
        body.CopyTo(room[FrameHeader.Size..]);
        stranger.Node.Links.Send(peer, body.Length + FrameHeader.Size);
    });

    private static bool Reads(IFrame frame) => FrameCodec.TryRead(frame.Type, Write(frame), out _, out _);

    private static byte[] Write(IFrame frame, SystemId system = default)
    {
        var buffer = new ArrayBufferWriter<byte>();
        var writer = new MessagePackWriter(buffer);
        writer.WriteArrayHeader(frame.Fields + 2);
        writer.WriteUInt(system.High);
        writer.WriteUInt(system.Low);
        frame.Write(ref writer);
        writer.Flush();
        return buffer.WrittenSpan.ToArray();
    }

    private sealed class Silent : IStateEvents
    {
        public void OnAnswered(Request request, OperationResult result)
        {
        }

        public void OnIgnored(Request request)
        {
        }

        public void OnRegistered(ProcessRecord process)
        {
        }

        public void OnExcluded(ProcessRecord process)
        {
        }

        public void OnProposed(GroupRecord group)
        {
        }

        public void OnInstalled(GroupRecord group, IReadOnlyList<ViewMember> goers)
        {
        }

        public void OnOver(GroupRecord group, string reason, IReadOnlyList<ProcessId> concerned)
        {
        }

        public void OnRestored()
        {
        }
    }
}
