using System.Buffers.Binary;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>
/// Draws hostile frames of every type there is: well-formed ones, from records and from what real members sent, with one mutation each. The
/// same seed and context give the same bytes.
/// </summary>
internal sealed class FrameSource
{
    private const ushort OwnSlot = 1;
    private static readonly Mutation[] s_mutations = Enum.GetValues<Mutation>();
    private static readonly FrameType[] s_layer = [.. DhtFrameNames.All.Select(static one => one.Type), FrameType.LastLayer];
    private readonly FrameContext _context;
    private readonly IReadOnlyDictionary<FrameType, IReadOnlyList<FrameSample>> _samples;
    private readonly OracleFrames _oracle;
    private readonly FrameMutator _mutator;
    private readonly Prng _random;
    private readonly double _breaking;

    public FrameSource(FrameContext context, IReadOnlyDictionary<FrameType, IReadOnlyList<FrameSample>> samples, Prng random, double breaking)
    {
        (_context, _samples, _random, _breaking) = (context, samples, random, breaking);
        _oracle = new(context);
        _mutator = new(context, random);
    }

    /// <summary>Types that go through groups, the layers' among them.</summary>
    public static IReadOnlyList<FrameType> GroupTypes { get; } =
    [
        FrameType.Data, FrameType.Order, FrameType.Ack, FrameType.Peer, FrameType.PeerAck, FrameType.Reply, FrameType.Report, FrameType.Cut, FrameType.CutPart,
        FrameType.Pull, FrameType.Forward, FrameType.FlushAck, FrameType.FlushWait, FrameType.StateOpen, FrameType.StateChunk, FrameType.StateAck, FrameType.StateEnd,
        FrameType.StateSign,
        .. s_layer,
    ];

    /// <summary>All types that a node may be sent: also those that only open a connection, and some that do not exist.</summary>
    public static IReadOnlyList<FrameType> Types { get; } =
        [FrameType.Hello, FrameType.HelloAck, FrameType.Segment, FrameType.Bind, (FrameType)9, (FrameType)17, (FrameType)255, .. OracleFrames.Types, .. GroupTypes];

    public static bool IsOfLink(FrameType type) => type is FrameType.None or FrameType.Hello or FrameType.HelloAck or FrameType.Segment;

    /// <summary>Tells the receiver that the frames after it belong to the group and view.</summary>
    public static HostileFrame Bind(FrameContext context) => new(FrameType.Bind, Mutation.None, Whole(FrameType.Bind, OwnSlot, context.View, BindBody(context, context.View)), false);

    public HostileFrame Next()
    {
        var mutation = s_mutations[_random.Next(s_mutations.Length)];
        if (mutation == Mutation.Framing) mutation = _random.NextDouble() < _breaking ? Mutation.Framing : Mutation.None;
        // A frame of the link itself in the middle of a stream ends the connection.
        FrameType type;
        do type = Types[_random.Next(Types.Count)];
        while (IsOfLink(type) && _random.NextDouble() >= _breaking);
        bool packed = OracleFrames.Types.Contains(type);
        byte[] body = Body(type);
        body = _mutator.Mutate(body, mutation, packed);
        if (mutation == Mutation.Type)
            do type = Types[_random.Next(Types.Count)];
            while (IsOfLink(type));
        ulong view = _context.View;
        ushort slot = OwnSlot;
        if (mutation == Mutation.View)
        {
            view = _random.Next(2) == 0 ? view + (ulong)_random.Next(4) - 1 : _mutator.Extreme();
            slot = _random.Next(2) == 0 ? OwnSlot : (ushort)_mutator.Extreme();
        }
        byte[] bytes = Whole(type, type < FrameType.Bind || packed ? (ushort)0 : slot, view, body);
        if (mutation == Mutation.Framing) Lie(bytes);
        return new(type, mutation, bytes, mutation == Mutation.Framing || IsOfLink(type));
    }

    private byte[] Body(FrameType type)
    {
        if (OracleFrames.Types.Contains(type)) return _oracle.Body(type, _random);
        switch (type)
        {
            case FrameType.Bind: return BindBody(_context, _random.Next(2) == 0 ? _context.View : _context.View + (ulong)_random.Next(100) - 1);
            case FrameType.Hello: return new HelloFrame("frames", 1, 1, false, _context.Nodes[0].Node, _context.Nodes[1].Node, 1, 0, 0, "127.0.0.1:1").ToFrame()[FrameHeader.Size..];
            case FrameType.HelloAck: return new HelloAckFrame(HelloStatus.Accepted, 1, _context.Nodes[0].Node, 1, 0, "127.0.0.1:1").ToFrame()[FrameHeader.Size..];
            case FrameType.Segment: return _mutator.Noise(16);
            // Made up, since few real members take long enough with their state to send it: the phase, the number of events handled, a reason.
            case FrameType.StateSign: return [(byte)_random.Next(4), .. _mutator.Noise(8), .. "why"u8];
        }
        return _samples.TryGetValue(type, out var samples) ? samples[_random.Next(samples.Count)].Body : _mutator.Noise(_random.Next(60));
    }

    private static byte[] BindBody(FrameContext context, ulong view)
    {
        var body = new byte[16];
        BinaryPrimitives.WriteUInt32LittleEndian(body, context.Group.Number);
        BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(4), context.Group.Incarnation);
        BinaryPrimitives.WriteUInt64LittleEndian(body.AsSpan(8), view);
        return body;
    }

    // A length below the header's or above the limit, or another version. With a length only longer than the frame, the receiver would wait for bytes to come.
    private void Lie(byte[] bytes)
    {
        switch (_random.Next(4))
        {
            case 0: BinaryPrimitives.WriteInt32LittleEndian(bytes, _random.Next(8)); break;
            case 1: BinaryPrimitives.WriteInt32LittleEndian(bytes, LinkLimits.FrameBytes - 3 + _random.Next(1 << 20)); break;
            case 2: BinaryPrimitives.WriteInt32LittleEndian(bytes, int.MinValue + _random.Next(100)); break;
            default: bytes[4] ^= 0xF0; break;
        }
    }

    private static byte[] Whole(FrameType type, ushort slot, ulong view, byte[] body)
    {
        var bytes = new byte[FrameHeader.Size + body.Length];
        FrameHeader.Write(bytes, type, slot, (uint)view, body.Length);
        body.CopyTo(bytes.AsSpan(FrameHeader.Size));
        return bytes;
    }
}
