using System.Numerics;

namespace GroupCore.Groups.Shared;

/// <summary>The ranks of members by the numbers of their links. As large as the view, however high the numbers are.</summary>
internal sealed class RankMap
{
    private readonly (int Peer, int Rank)[] _slots;
    private readonly int _mask;

    /// <param name="peers">The link number of each rank, −1 for none.</param>
    public RankMap(ReadOnlySpan<int> peers)
    {
        int size = (int)BitOperations.RoundUpToPowerOf2((uint)Math.Max(2, peers.Length * 2));
        _slots = new (int, int)[size];
        _mask = size - 1;
        Array.Fill(_slots, (-1, -1));
        for (int rank = 0; rank < peers.Length; rank++)
        {
            if (peers[rank] < 0) continue;
            int at = peers[rank] & _mask;
            while (_slots[at].Peer >= 0) at = (at + 1) & _mask;
            _slots[at] = (peers[rank], rank);
        }
    }

    public static RankMap Empty { get; } = new([]);

    /// <summary>Entries held.</summary>
    public int Size => _slots.Length;

    /// <summary>The rank behind a link number, −1 for none.</summary>
    public int this[int peer]
    {
        get
        {
            if (peer < 0) return -1;
            for (int at = peer & _mask; ; at = (at + 1) & _mask)
            {
                var (found, rank) = _slots[at];
                if (found == peer || found < 0) return rank;
            }
        }
    }
}
