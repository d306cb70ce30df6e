using System.Buffers;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Oracle.Frames;
using Oracle.Raft;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>
/// Every frame reads back as it was written. Anything else is refused without an exception (links.md#sizes-are-checked-before-anything-is-allocated,
/// #malformed-input-is-counted-and-its-sender-muted).
/// </summary>
public sealed class FrameTests
{
    private static readonly ProcessId A = new(11, 3), B = new(ulong.MaxValue, 4), C = new(12, 5);

    private static readonly IFrame[] All =
    [
        new ProbeFrame(false, 1), new ProbeFrame(true, 1), new IndirectProbeFrame(false, 5), new IndirectProbeFrame(true, 5), new IndirectProbeFrame(false, 5, 77, true),
        new ProposeFrame(new(new(1, 2), 9, 4, [A], [B], [new(C, new("127.0.0.1:1"), false, "tag")])),
        new InstallFrame(new View(new(1, 2), "g", 5, 9, new(), [new(A, new("127.0.0.1:1"), true, ""), new(B, new("[::1]:2"), false, "zone")], [B], [], [C], [new(A, 1, 0)])),
        new SyncAsk(A, [new(new(1, 2), 3, 4)]), new SyncAnswer(new([LogBus.ReplicaOf(1)], []), default, [new(1, 2)], "over", true), new ExcludedFrame(A, "reason"),
        new VoteRequest(true, 1, 2, 3, false), new VoteRequest(false, 1, 2, 3, true), new VoteReply(true, 4, true), new VoteReply(false, 4, false),
        new AppendRequest(1, 2, 3, [new(1, EntryKind.Noop, []), new(1, EntryKind.Configuration, ConfigurationCodec.Write(new([LogBus.ReplicaOf(1)], [LogBus.ReplicaOf(2)])))], 5, 6),
        new AppendReply(1, true, 2, 3), new SnapshotChunk(1, 2, 1, new([LogBus.ReplicaOf(1)], []), 0, 3, new byte[] { 1, 2, 3 }), new SnapshotAck(1, 2, 3), new TimeoutNow(3),
        new RequestFrame(new(A, 1, 1, new Join("g", new(), 0, ""))), new RequestFrame(new(A, 2, 1, new ViewCompletion(new(1, 2), 3, 4, [A, B]))),
        new RequestFrame(new(A, 0, 1, new Register(11, new("127.0.0.1:1"), "t", "h", 7, -8, Durations.Second))), new RequestFrame(new(A, 3, 1, new Exclude([new(B, true)]))),
        new ResponseFrame(1, ResponseStatus.Applied, OperationResult.Joined(new(1, 2)), LogBus.ReplicaOf(1)),
        new LeaseAsk(A, 5, 6), new LeaseGrant(5, new([LogBus.ReplicaOf(1)], []), 6, [new(B, new("[::1]:2"), 3, 4)]), new LeaseGrant(5, Configuration.Empty, 6, null),
        new SuspectFrame(A, false, Suspicion.Refused, 2), new WhoIsOracle(true), new OracleIs(new([LogBus.ReplicaOf(1)], []), LogBus.ReplicaOf(1)),
    ];

    [Fact]
    public void Frames_read_back_as_they_were_written()
    {
        foreach (var frame in All)
        {
            byte[] bytes = Write(frame);
            Assert.True(FrameCodec.TryRead(frame.Type, bytes, out var system, out var read), frame.ToString());
            Assert.Equal(new SystemId(7, 8), system);
            Assert.Equal(frame.GetType(), read.GetType());
            Assert.Equal(Convert.ToHexString(bytes), Convert.ToHexString(Write(read)));
        }
    }

    [Fact]
    public void Cut_frames_are_refused()
    {
        foreach (var frame in All)
        {
            byte[] bytes = Write(frame);
            for (int length = 0; length < bytes.Length; length++) Assert.False(FrameCodec.TryRead(frame.Type, bytes.AsSpan(0, length), out _, out _));
        }
    }

    /// <summary>A reader that knows fewer fields skips those that it does not know, and finds the others at their old places.</summary>
    [Fact]
    public void The_lease_of_a_registration_stands_behind_what_was_there_before()
    {
        byte[] bytes = OperationCodec.WriteEntry([new(A, 0, 1, new Register(11, new("127.0.0.1:1"), "t", "h", 7, -8, Durations.Second, OwnsAddress: false))]);
        var reader = new MessagePackReader(bytes);
        reader.ReadArrayHeader();
        Assert.Equal(13, reader.ReadArrayHeader());
        // Requester (2), number, floor, kind; node, address, tag, host, number, start.
        for (int field = 0; field < 11; field++) reader.Skip();
        Assert.False(reader.ReadBoolean());
        Assert.Equal(Durations.Second, reader.ReadInt64());
        Assert.True(reader.AtEnd);
    }

    [Fact]
    public void Damaged_and_random_frames_never_throw()
    {
        var random = new Prng(3);
        foreach (var frame in All)
        {
            for (int run = 0; run < 1_000; run++)
            {
                byte[] bytes = run % 4 == 0 ? new byte[random.Next(80)] : Write(frame);
                for (int change = run % 4 == 0 ? bytes.Length : 1 + random.Next(3); change > 0 && bytes.Length > 0; change--)
                    bytes[random.Next(bytes.Length)] = (byte)random.Next(256);
                FrameCodec.TryRead(frame.Type, bytes, out _, out _);
            }
        }
    }

    [Fact]
    public void Frames_of_another_system_change_nothing_and_are_counted()
    {
        using var cluster = Founded();
        foreach (var frame in All)
            if (frame is not (WhoIsOracle or OracleIs)) Say(cluster, frame.Type, Write(frame));
        cluster.Run(2);
        Assert.Equal(All.Length - 2, cluster[0].Node.Node.Counters.Refused(RefusalReason.WrongCluster));
        Assert.Contains(cluster[0].Groups.Events, text => text.Contains("SplitFoundation", StringComparison.Ordinal));
        Assert.Equal(MembershipState.Active, cluster[0].Oracle.State);
        Assert.Single(cluster[0].Oracle.Replica!.State.Processes);
    }

    [Fact]
    public void Every_cut_frame_of_the_own_system_is_counted_and_changes_nothing()
    {
        using var cluster = Founded();
        byte[] before = State(cluster);
        var system = cluster[0].Oracle.System;
        int said = 0;
        foreach (var frame in All)
        {
            byte[] whole = Write(frame, system);
            for (int length = 0; length < whole.Length; length++, said++) Say(cluster, frame.Type, whole[..length]);
            cluster.Run(0.01);
        }
        cluster.Run(2);
        Assert.Equal(said, cluster[0].Node.Node.Counters.Refused(RefusalReason.Malformed));
        Assert.Equal(before, State(cluster));
    }

    [Fact]
    public void Random_bytes_and_frames_with_flipped_bits_are_counted_and_change_nothing()
    {
        using var cluster = Founded();
        byte[] before = State(cluster);
        var random = new Prng(5);
        int said = 0;
        for (int run = 0; run < 200; run++)
        {
            foreach (var frame in All)
            {
                byte[] bytes = run % 2 == 0 ? new byte[random.Next(120)] : Write(frame);
                if (run % 2 == 0) foreach (ref byte one in bytes.AsSpan()) one = (byte)random.Next(256);
                else for (int flip = random.Next(4); flip >= 0; flip--) bytes[random.Next(bytes.Length)] ^= (byte)(1 << random.Next(8));
                Say(cluster, frame.Type, bytes);
                // A damaged frame may still read as a valid WhoIsOracle or OracleIs; that has no effect.
                if (frame is not (WhoIsOracle or OracleIs)) said++;
            }
            cluster.Run(0.01);
        }
        cluster.Run(2);
        var counters = cluster[0].Node.Node.Counters;
        long counted = Enum.GetValues<RefusalReason>().Sum(counters.Refused);
        Assert.InRange(counted, said, 200 * All.Length);
        Assert.Equal(before, State(cluster));
    }

    private static OracleCluster Founded()
    {
        var cluster = new OracleCluster(1, 1);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster[0].Oracle.State == MembershipState.Active, 2));
        cluster.Simulation.AddNode("stranger");
        return cluster;
    }

    /// <summary>Everything that the first process decided and believes, as bytes.</summary>
    private static byte[] State(OracleCluster cluster)
    {
        var (oracle, buffer) = (cluster[0].Oracle, new ArrayBufferWriter<byte>());
        oracle.Replica!.State.Save(buffer);
        var log = oracle.Replica.Log;
        string rest = $"{oracle.State} {oracle.Self} {oracle.System} {log.Role} {log.Term} {log.VotedFor} {log.Commit} {log.Entries.LastIndex} {log.Entries.Configuration}";
        return [.. buffer.WrittenSpan, .. System.Text.Encoding.UTF8.GetBytes(rest)];
    }

    /// <summary>A stranger sends the first process a frame with this body.</summary>
    private static void Say(OracleCluster cluster, FrameType type, byte[] body)
    {
        var stranger = cluster.Simulation.Nodes[^1];
        stranger.Post(() =>
        {
            int peer = stranger.Node.Links.Open(cluster[0].Node.Address);
            var room = stranger.Node.Links.Reserve(body.Length + FrameHeader.Size);
            FrameHeader.Write(room, type, 0, 0, body.Length);
            body.CopyTo(room[FrameHeader.Size..]);
            stranger.Node.Links.Send(peer, body.Length + FrameHeader.Size);
        });
    }

    private static byte[] Write(IFrame frame) => Write(frame, new(7, 8));

    private static byte[] Write(IFrame frame, SystemId system)
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
}
