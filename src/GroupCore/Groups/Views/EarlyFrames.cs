using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>
/// Frames of views that are not installed here yet (views-and-flush.md#every-frame-names-its-view), in order of arrival, bounded in bytes for each sender and in all. If a
/// frame does not fit, all frames of the sender with the most bytes held are dropped and noted as lost: a sender with a gap is of no use in that view, and only the
/// membership says whether it is in the view.
/// </summary>
/// <remarks>There may be many senders, and many frames, as a frame needs no body: so adding or refusing one never walks through all that is held or lost.</remarks>
internal sealed class EarlyFrames(long limit)
{
    private const int LostKept = 4_096;
    private readonly SortedDictionary<int, EarlySender> _senders = [];
    // Senders by the bytes held of them; among equals the lowest number is last.
    private readonly SortedSet<(long Bytes, int Behind)> _byBytes = [];
    private readonly HashSet<(GroupId Group, ulong View, int Peer)> _lost = [];
    // The same, in order of loss.
    private readonly Queue<(GroupId Group, ulong View, int Peer)> _losses = [];
    private long _number;

    public long Bytes { get; private set; }

    /// <summary>Keeps a frame; false when its sender has lost one of that view.</summary>
    public bool TryAdd(GroupId group, ulong view, int peer, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (IsLost(group, view, peer)) return false;
        var sender = _senders.GetValueOrDefault(peer);
        long cost = EarlyFrame.CostOf(body.Length);
        if ((sender?.Bytes ?? 0) + cost > GroupLimits.EarlyBytesOfMember) return Lose(group, view, peer);
        while (Bytes + cost > limit)
        {
            if (_byBytes.Count == 0 || -_byBytes.Max.Behind == peer) return Lose(group, view, peer);
            Drop(-_byBytes.Max.Behind);
        }
        if (sender is null) _senders.Add(peer, sender = new());
        sender.Frames.Add(new(_number++, group, view, peer, header, body.ToArray()));
        Count(peer, sender, cost);
        return true;
    }

    public bool IsLost(GroupId group, ulong view, int peer) => _lost.Count > 0 && _lost.Contains((group, view, peer));

    /// <summary>Whether a frame of that sender is kept.</summary>
    public bool Holds(int peer) => _senders.ContainsKey(peer);

    /// <summary>Takes the frames that <paramref name="which"/> chooses, in order of arrival.</summary>
    public List<EarlyFrame> Take(Predicate<EarlyFrame> which)
    {
        if (Bytes == 0) return [];
        var taken = new List<EarlyFrame>();
        long bytes = 0;
        Predicate<EarlyFrame> takes = frame =>
        {
            if (!which(frame)) return false;
            taken.Add(frame);
            bytes += frame.Cost;
            return true;
        };
        int[] peers = [.. _senders.Keys];
        foreach (int peer in peers)
        {
            var sender = _senders[peer];
            bytes = 0;
            sender.Frames.RemoveAll(takes);
            if (bytes > 0) Count(peer, sender, -bytes);
        }
        taken.Sort(static (one, other) => one.Number.CompareTo(other.Number));
        return taken;
    }

    /// <summary>Takes all frames of a sender, in order of arrival.</summary>
    public List<EarlyFrame> Take(int peer)
    {
        if (!_senders.TryGetValue(peer, out var sender)) return [];
        Count(peer, sender, -sender.Bytes);
        return sender.Frames;
    }

    /// <summary>The link is over: frames that came over it have no sender any more, or are lost with what was still on it. So there are no more senders than links.</summary>
    public void Drop(int peer, NodeCounters counters)
    {
        foreach (var _ in Take(peer)) counters.Refuse(RefusalReason.WrongSender);
    }

    /// <summary>Takes over what <paramref name="from"/> has lost of a group.</summary>
    public void TakeLost(EarlyFrames from, GroupId group)
    {
        foreach (var lost in from._losses)
            if (lost.Group == group) Note(lost);
        from.ForgetLost(lost => lost.Group == group);
    }

    /// <summary>Views before this one are over.</summary>
    public void Forget(ulong view) => ForgetLost(lost => lost.View < view);

    public void Clear()
    {
        _senders.Clear();
        _byBytes.Clear();
        _lost.Clear();
        _losses.Clear();
        Bytes = 0;
    }

    private void Count(int peer, EarlySender sender, long more)
    {
        if (sender.Bytes > 0) _byBytes.Remove((sender.Bytes, -peer));
        sender.Bytes += more;
        Bytes += more;
        if (sender.Bytes > 0) _byBytes.Add((sender.Bytes, -peer));
        else _senders.Remove(peer);
    }

    private bool Lose(GroupId group, ulong view, int peer)
    {
        Drop(peer);
        Note((group, view, peer));
        return false;
    }

    private void Drop(int peer)
    {
        foreach (var frame in Take(peer)) Note((frame.Group, frame.View, peer));
    }

    private void Note((GroupId Group, ulong View, int Peer) lost)
    {
        if (!_lost.Add(lost)) return;
        _losses.Enqueue(lost);
        if (_losses.Count > LostKept) _lost.Remove(_losses.Dequeue());
    }

    private void ForgetLost(Predicate<(GroupId Group, ulong View, int Peer)> which)
    {
        for (int left = _losses.Count; left > 0; left--)
        {
            var lost = _losses.Dequeue();
            if (which(lost)) _lost.Remove(lost);
            else _losses.Enqueue(lost);
        }
    }
}
