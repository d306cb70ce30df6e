namespace GroupCore.Transport.Mesh;

/// <summary>
/// Counts the malformed frames of each node, by its id, and says which nodes are muted. Bounded: of confirmed ids, and of others, the one that came into the table first is forgotten first.
/// A node that is confirmed, and nodes that only came under its id, are counted apart: else a stranger could mute any other node. A node that is not
/// confirmed still gets in after too many malformed frames under its id, and its link ends at its next one: it may be the node itself.
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

    /// <summary>Counts one frame; true when it is one too many, and for each further one within a minute: the link must end, and the node, if confirmed, is muted.</summary>
    public bool Add(ulong node, long now, bool confirmed = false)
    {
        if (!_nodes.TryGetValue((node, confirmed), out var entry))
        {
            // Ids that anybody can invent push out no id that is confirmed.
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

    /// <summary>The node itself was reached: malformed frames of others under its id no longer count.</summary>
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
