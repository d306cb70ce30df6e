using GroupCore.Membership;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>
/// Frames of views that are not installed here yet (R11), bounded in bytes for each sender and in all; order of arrival is kept. What does
/// not fit costs its own sender: all that is held of the one with most is dropped and remembered as lost, since a sender with a gap is of no
/// use in that view, and whether it is in it only the membership says.
/// </summary>
internal sealed class EarlyFrames(long limit)
{
    private const int LostKept = 4_096;
    private readonly SortedDictionary<int, long> _bytesOf = [];
    private readonly List<(GroupId Group, ulong View, int Peer)> _lost = [];
    private List<EarlyFrame> _frames = [];

    public long Bytes { get; private set; }

    /// <summary>Keeps a frame; false when its sender has lost one of that view.</summary>
    public bool TryAdd(GroupId group, ulong view, int peer, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (IsLost(group, view, peer)) return false;
        long cost = body.Length + 64, held = _bytesOf.GetValueOrDefault(peer) + cost;
        if (held > GroupLimits.EarlyBytesOfMember) return Lose(group, view, peer);
        while (Bytes + cost > limit)
        {
            int most = SenderWithMost();
            if (most == peer || most < 0) return Lose(group, view, peer);
            Drop(most);
        }
        Bytes += cost;
        _bytesOf[peer] = held;
        _frames.Add(new(group, view, peer, header, body.ToArray()));
        return true;
    }

    public bool IsLost(GroupId group, ulong view, int peer) => _lost.Count > 0 && _lost.Contains((group, view, peer));

    /// <summary>Whether a frame of that sender is kept.</summary>
    public bool Holds(int peer) => _bytesOf.ContainsKey(peer);

    /// <summary>Takes the frames that <paramref name="which"/> chooses, in order of arrival.</summary>
    public List<EarlyFrame> Take(Predicate<EarlyFrame> which)
    {
        if (_frames.Count == 0) return _frames;
        var taken = new List<EarlyFrame>();
        var kept = new List<EarlyFrame>();
        foreach (var frame in _frames) (which(frame) ? taken : kept).Add(frame);
        _frames = kept;
        Bytes = 0;
        _bytesOf.Clear();
        foreach (var frame in kept)
        {
            Bytes += frame.Cost;
            _bytesOf[frame.Peer] = _bytesOf.GetValueOrDefault(frame.Peer) + frame.Cost;
        }
        return taken;
    }

    /// <summary>Takes over what another holds of a group, and what it has lost.</summary>
    public void TakeLost(EarlyFrames from, GroupId group)
    {
        foreach (var lost in from._lost)
            if (lost.Group == group) Note(lost);
        from._lost.RemoveAll(lost => lost.Group == group);
    }

    /// <summary>Views before this one are over.</summary>
    public void Forget(ulong view)
    {
        if (_lost.Count > 0) _lost.RemoveAll(lost => lost.View < view);
    }

    public void Clear()
    {
        _frames = [];
        _bytesOf.Clear();
        _lost.Clear();
        Bytes = 0;
    }

    private bool Lose(GroupId group, ulong view, int peer)
    {
        Drop(peer);
        Note((group, view, peer));
        return false;
    }

    private void Drop(int peer)
    {
        foreach (var frame in Take(frame => frame.Peer == peer)) Note((frame.Group, frame.View, peer));
    }

    private void Note((GroupId Group, ulong View, int Peer) lost)
    {
        if (_lost.Contains(lost)) return;
        if (_lost.Count == LostKept) _lost.RemoveAt(0);
        _lost.Add(lost);
    }

    private int SenderWithMost()
    {
        int most = -1;
        long bytes = 0;
        foreach (var (peer, held) in _bytesOf)
            if (held > bytes) (most, bytes) = (peer, held);
        return most;
    }
}
