using GroupCore.Membership;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>Frames of views that are not installed here yet (R11), bounded in bytes; order of arrival is kept.</summary>
internal sealed class EarlyFrames
{
    private List<EarlyFrame> _frames = [];

    public long Bytes { get; private set; }

    public bool IsEmpty => _frames.Count == 0;

    /// <summary>Keeps a frame; false when the bound is reached.</summary>
    public bool TryAdd(GroupId group, ulong view, int peer, in FrameHeader header, ReadOnlySpan<byte> body, long limit)
    {
        int cost = body.Length + 64;
        if (Bytes + cost > limit) return false;
        Bytes += cost;
        _frames.Add(new(group, view, peer, header, body.ToArray()));
        return true;
    }

    /// <summary>Takes the frames that <paramref name="which"/> chooses, in order of arrival.</summary>
    public List<EarlyFrame> Take(Predicate<EarlyFrame> which)
    {
        var taken = new List<EarlyFrame>();
        var kept = new List<EarlyFrame>();
        foreach (var frame in _frames) (which(frame) ? taken : kept).Add(frame);
        _frames = kept;
        Bytes = 0;
        foreach (var frame in kept) Bytes += frame.Body.Length + 64;
        return taken;
    }

    public void Clear() => Take(_ => true);
}
