using System.Buffers;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Oracle;
using Oracle.Frames;
using Oracle.Raft;
using Oracle.State.Operations;

namespace Ida.Scenarios;

/// <summary>Well-formed frames of the Oracle about the nodes of a context, as a member, a replica or the leader would send them; but anybody may send these.</summary>
internal sealed class OracleFrames(FrameContext context)
{
    private static readonly ulong[] s_numbers = [0, 1, 2, 3, 5, 10, 50, 100, 1_000, 1UL << 31, 1UL << 32, (1UL << 63) - 1, 1UL << 63, ulong.MaxValue - 1, ulong.MaxValue];
    private readonly ArrayBufferWriter<byte> _scratch = new(4_096);

    /// <summary>The types this makes.</summary>
    public static IReadOnlyList<FrameType> Types { get; } =
    [
        FrameType.Ping, FrameType.Pong, FrameType.IndirectPing, FrameType.IndirectPong, FrameType.Propose, FrameType.Install, FrameType.Sync, FrameType.Excluded,
        FrameType.PreVote, FrameType.PreVoteReply, FrameType.Vote, FrameType.VoteReply, FrameType.Append, FrameType.AppendReply, FrameType.Snapshot, FrameType.TimeoutNow,
        FrameType.OracleRequest, FrameType.OracleResponse, FrameType.Lease, FrameType.Suspect, FrameType.WhoIsOracle, FrameType.OracleIs,
    ];

    public byte[] Body(FrameType type, Prng random)
    {
        var frame = Frame(type, random);
        _scratch.ResetWrittenCount();
        var writer = new MessagePackWriter(_scratch);
        writer.WriteArrayHeader(frame.Fields + 2);
        writer.WriteUInt(context.System.High);
        writer.WriteUInt(context.System.Low);
        frame.Write(ref writer);
        writer.Flush();
        return _scratch.WrittenSpan.ToArray();
    }

    private IFrame Frame(FrameType type, Prng random) => type switch
    {
        FrameType.Ping => new ProbeFrame(false, Number(random)),
        FrameType.Pong => new ProbeFrame(true, Number(random)),
        FrameType.IndirectPing => new IndirectProbeFrame(false, Node(random).Node, random.Next(2) == 0 ? 0 : random.NextUInt64(), random.Next(2) == 0),
        FrameType.IndirectPong => new IndirectProbeFrame(true, Node(random).Node),
        FrameType.Propose => new ProposeFrame(new(context.Group, Number(random), View(random), Some(random), Some(random), Members(random))),
        FrameType.Install => new InstallFrame(new(context.Group, FrameVictims.GroupName, View(random), Number(random), new() { StrictPrimary = random.Next(2) == 0 },
            Members(random), Some(random), Some(random), Some(random), [])),
        FrameType.Sync => random.Next(2) == 0
            ? new SyncAsk(Process(random), [new(context.Group, View(random), Number(random))])
            : new SyncAnswer(Replicas(random), Node(random), random.Next(2) == 0 ? [context.Group] : [], "over", random.Next(2) == 0),
        FrameType.Excluded => new ExcludedFrame(Process(random), "excluded"),
        FrameType.PreVote => new VoteRequest(true, Number(random), Number(random), Number(random), random.Next(2) == 0),
        FrameType.PreVoteReply => new VoteReply(true, Number(random), random.Next(2) == 0),
        FrameType.Vote => new VoteRequest(false, Number(random), Number(random), Number(random), random.Next(2) == 0),
        FrameType.VoteReply => new VoteReply(false, Number(random), random.Next(2) == 0),
        FrameType.Append => new AppendRequest(Number(random), Number(random), Number(random), Entries(random), Number(random), Number(random)),
        FrameType.AppendReply => new AppendReply(Number(random), random.Next(2) == 0, Number(random), Number(random)),
        FrameType.Snapshot => random.Next(4) == 0 ? new SnapshotAck(Number(random), Number(random), random.Next(1_000)) : Snapshot(random),
        FrameType.TimeoutNow => new TimeoutNow(Number(random)),
        FrameType.OracleRequest => new RequestFrame(Request(random)),
        FrameType.OracleResponse => new ResponseFrame(Number(random), (ResponseStatus)random.Next(2),
            new(random.Next(2) == 0, "no", Process(random), context.Group), Node(random)),
        FrameType.Lease => random.Next(2) == 0
            ? new LeaseAsk(Process(random), (long)Number(random), Number(random))
            : new LeaseGrant((long)Number(random), Replicas(random), Number(random), random.Next(2) == 0 ? null : [new(Process(random), Node(random).Address, 1, 1)]),
        FrameType.Suspect => new SuspectFrame(Process(random), random.Next(4) == 0, (Suspicion)random.Next(5), random.Next(9)),
        FrameType.WhoIsOracle => new WhoIsOracle(random.Next(2) == 0),
        FrameType.OracleIs => new OracleIs(Replicas(random), Node(random)),
        _ => throw new ArgumentOutOfRangeException(nameof(type), type, "No frame of the Oracle."),
    };

    private static ulong Number(Prng random) => random.Next(3) == 0 ? (ulong)random.Next(200) : s_numbers[random.Next(s_numbers.Length)];

    private ulong View(Prng random) => random.Next(2) == 0 ? context.View + (ulong)random.Next(4) : Number(random);

    private Replica Node(Prng random) => context.Nodes[random.Next(context.Nodes.Count)];

    private ProcessId Process(Prng random)
    {
        var process = context.Processes[random.Next(context.Processes.Count)];
        return random.Next(4) == 0 ? process with { Incarnation = Number(random) } : process;
    }

    private List<ProcessId> Some(Prng random) => [.. context.Processes.Where(_ => random.Next(2) == 0)];

    private List<ViewMember> Members(Prng random)
    {
        var members = new List<ViewMember>();
        for (int i = 0; i < context.Nodes.Count; i++)
            if (random.Next(3) > 0) members.Add(new(context.Processes[i], context.Nodes[i].Address, random.Next(3) > 0, "t"));
        return members;
    }

    private Configuration Replicas(Prng random) => random.Next(3) == 0 ? context.Replicas : new([.. context.Nodes.Where(_ => random.Next(2) == 0)], [.. context.Nodes.Where(_ => random.Next(4) == 0)]);

    private List<LogEntry> Entries(Prng random)
    {
        var entries = new List<LogEntry>();
        for (int i = random.Next(4); i > 0; i--)
        {
            entries.Add(random.Next(4) switch
            {
                0 => new(Number(random), EntryKind.Noop, []),
                1 => new(Number(random), EntryKind.Configuration, ConfigurationCodec.Write(Replicas(random))),
                2 => new(Number(random), EntryKind.Operations, OperationCodec.WriteEntry([Request(random), Request(random)])),
                _ => new(Number(random), EntryKind.Operations, Noise(random, 40)),
            });
        }
        return entries;
    }

    private SnapshotChunk Snapshot(Prng random)
    {
        var bytes = Noise(random, 200);
        int offset = random.Next(3) == 0 ? random.Next(1_000) : 0;
        int total = random.Next(3) switch { 0 => offset + bytes.Length, 1 => Limits.SnapshotBytes, _ => offset + bytes.Length + random.Next(1_000) };
        return new(Number(random), Number(random), Number(random), Replicas(random), offset, total, bytes);
    }

    private Request Request(Prng random)
    {
        Operation operation = random.Next(9) switch
        {
            0 => new Register(Node(random).Node, Node(random).Address, "tag", "host", 1, 1, 1_000_000_000),
            1 => new Create("other", new(), random.Next(3), Some(random)),
            2 => new Join("other", new(), random.Next(3), "tag"),
            3 => new Leave(context.Group),
            4 => new Exclude([.. context.Processes.Select(process => new Exclusion(process, random.Next(2) == 0))]),
            5 => new ViewCompletion(context.Group, View(random), Number(random), Some(random)),
            6 => new Renew(context.Group, View(random)),
            7 => new Depart(random.Next(2) == 0),
            _ => new Release(context.Group),
        };
        return new(Process(random), Number(random), Number(random), operation);
    }

    private static byte[] Noise(Prng random, int most)
    {
        var bytes = new byte[random.Next(most)];
        for (int i = 0; i < bytes.Length; i++) bytes[i] = (byte)random.NextUInt64();
        return bytes;
    }
}
