namespace GroupCore.Transport.Mesh;

/// <summary>
/// Counts the malformed frames of each node, by its id, and says which nodes are muted. The table is bounded: the confirmed id that entered first is forgotten
/// first, and so among the other ids. A confirmed node and nodes that only came under its id are counted apart: otherwise a stranger could mute any other node.
/// After too many malformed frames under an id, a node that is not confirmed still gets in, since it may be the node itself; its link ends at its next malformed frame.
/// Source: links.md#malformed-input-is-counted-and-its-sender-muted.
/// </summary>
/// <param name="most">Malformed frames in a minute that a node may send.</param>
internal sealed class MuteTable(int most)
{
    public const int Malformed = 100;
    private const int Nodes = 1_024;
    private const long Minute = 60_000_000_000;
    private readonly Dictionary<(ulong Node, bool Confirmed), Entry> _nodes = [];
    private readonly Queue<ulong> _confirmed = new(), _others = new();

    /// <summary>Counts one frame; true when it is one too many, and for each further frame within a minute: the link must end, and the node, if confirmed, is muted.</summary>
    public bool Add(ulong node, long now, bool confirmed = false)
    {
        if (!_nodes.TryGetValue((node, confirmed), out var entry))
        {
            // Ids that anybody can invent must not push out confirmed ones.
            var order = confirmed ? _confirmed : _others;
            if (order.Count >= Nodes) _nodes.Remove((order.Dequeue(), confirmed));
            order.Enqueue(node);
            _nodes.Add((node, confirmed), entry = new() { Since = now });
        }
        if (now < entry.Until) return true;
        if (now - entry.Since >= Minute) (entry.Since, entry.Count) = (now, 0);
        if (++entry.Count <= most) return false;
        (entry.Since, entry.Count, entry.Until) = (now, 0, now + Minute);
        return true;
    }

    /// <summary>Whether the node is muted now.</summary>
    public bool IsMuted(ulong node, long now) => _nodes.Count > 0 && _nodes.TryGetValue((node, true), out var entry) && now < entry.Until;

    /// <summary>The node itself was reached: malformed frames that others sent under its id no longer count.</summary>
    public void Clear(ulong node)
    {
        if (_nodes.TryGetValue((node, false), out var entry)) (entry.Count, entry.Until) = (0, long.MinValue);
    }

    private sealed class Entry
    {
        public long Since { get; set; }

        public int Count { get; set; }

        public long Until { get; set; } = long.MinValue;
    }
}
