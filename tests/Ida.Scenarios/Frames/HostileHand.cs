using GroupCore.Runtime;
using GroupCore.Wire;

namespace Ida.Scenarios;

/// <summary>
/// Draws what a lying member sends in place of, or beside, a frame of its own. With <paramref name="membership"/> it also sends frames of the Oracle, by
/// which a process of the system can have others excluded. With <paramref name="replaces"/> a lie may take the place of the true frame.
/// </summary>
internal sealed class HostileHand(FrameContext context, IReadOnlyDictionary<FrameType, IReadOnlyList<FrameSample>> samples, Prng random, FrameTally tally, int count,
    bool membership, bool replaces)
{
    private const int MostForged = 8;
    private static readonly Mutation[] s_mutations = [.. Enum.GetValues<Mutation>().Where(mutation => mutation != Mutation.Framing)];
    private readonly FrameSource _source = new(context, samples, random, 0);
    private readonly FrameMutator _mutator = new(context, random);
    private readonly List<(int Peer, byte[] Bytes)> _drawn = [];
    private int _sent;

    /// <summary>Whether it has sent all that it was to send.</summary>
    public bool IsDone => Volatile.Read(ref _sent) >= count;

    /// <summary>What goes out instead of a frame to a peer.</summary>
    public List<(int Peer, byte[] Bytes)> Draw(byte[] frame, int peer, IReadOnlyList<int> peers, byte[]?[] old)
    {
        _drawn.Clear();
        FrameHeader.TryRead(frame, out var header);
        // Few frames say what a member declares, so none of them is spared.
        bool declares = header.Type == FrameType.CutPart;
        if (!Lies(header.Type) || (!declares && random.Next(3) != 0))
        {
            _drawn.Add((peer, frame));
            return _drawn;
        }
        int way = declares && random.Next(2) == 0 ? 3 : random.Next(6);
        if (way != 0 || !replaces) _drawn.Add((peer, frame));
        switch (way)
        {
            case 0 or 1: Damaged(frame, header, peer); break;
            case 2: Add(peers[random.Next(peers.Count)], header.Type, Mutation.None, frame); break;
            case 3 when GroupLies.Draw(header.Type, frame[FrameHeader.Size..], random) is { } lie: Add(peer, header.Type, Mutation.Field, Whole(header.Type, header.Slot, header.View, lie)); break;
            case 4 when old[random.Next(old.Length)] is { } again && Lies((FrameType)again[5]): Add(peer, (FrameType)again[5], Mutation.Replay, again); break;
            default: Forged(header, peer); break;
        }
        return _drawn;
    }

    private bool Lies(FrameType type) => FrameSource.GroupTypes.Contains(type) || type == FrameType.Bind || (membership && OracleFrames.Types.Contains(type));

    private void Damaged(byte[] frame, FrameHeader header, int peer)
    {
        var mutation = s_mutations[random.Next(s_mutations.Length)];
        byte[] body = _mutator.Mutate(frame[FrameHeader.Size..], mutation, OracleFrames.Types.Contains(header.Type));
        var (type, slot, view) = (header.Type, header.Slot, header.View);
        if (mutation == Mutation.Type) type = FrameSource.GroupTypes[random.Next(FrameSource.GroupTypes.Count)];
        if (mutation == Mutation.View) (slot, view) = (random.Next(2) == 0 ? slot : (ushort)_mutator.Extreme(), view + (uint)random.Next(4) - 1);
        for (int i = mutation == Mutation.Replay ? 3 : 1; i > 0; i--) Add(peer, type, mutation, Whole(type, slot, view, body));
    }

    private void Forged(FrameHeader header, int peer)
    {
        for (int i = random.Next(MostForged); i >= 0;)
        {
            var forged = _source.Next();
            if (FrameSource.IsOfLink(forged.Type) || !Lies(forged.Type)) continue;
            i--;
            // With slot and view of a true frame: a frame of another group or view is refused before it is read.
            bool inPlace = header.Slot != 0 && forged.Mutation != Mutation.View && FrameSource.GroupTypes.Contains(forged.Type);
            Add(peer, forged.Type, forged.Mutation, inPlace ? Whole(forged.Type, header.Slot, header.View, forged.Bytes[FrameHeader.Size..]) : forged.Bytes);
        }
    }

    private void Add(int peer, FrameType type, Mutation mutation, byte[] bytes)
    {
        _drawn.Add((peer, bytes));
        tally.Add(new(type, mutation, bytes, false));
        Volatile.Write(ref _sent, _sent + 1);
    }

    private static byte[] Whole(FrameType type, ushort slot, uint view, byte[] body)
    {
        var bytes = new byte[FrameHeader.Size + body.Length];
        FrameHeader.Write(bytes, type, slot, view, body.Length);
        body.CopyTo(bytes.AsSpan(FrameHeader.Size));
        return bytes;
    }
}
