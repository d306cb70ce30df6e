using GroupCore.Membership;

namespace Ida.Placement;

/// <summary>
/// Slots and shards of one view, with ranks for sending. All members of the DHT compute the same map from the same decision; they learn later
/// only which newcomers have become initialised since. Source: dht-order.md#keys-and-placement.
/// </summary>
internal sealed class ShardMap
{
    private readonly SlotState[] _slots;
    private readonly int[] _rankOfSlot;
    private readonly int[] _slotOfRank;
    private readonly bool[] _initialised;
    private readonly ushort[][] _members;
    private readonly int[][] _ranks;

    public ShardMap(IReadOnlyList<SlotState> slots, int shards, View view)
    {
        Shards = shards;
        _slots = [.. slots];
        _rankOfSlot = new int[slots.Count];
        _initialised = new bool[slots.Count];
        _slotOfRank = new int[view.Members.Count];
        Array.Fill(_slotOfRank, -1);
        var members = new List<ushort>[shards];
        for (int shard = 0; shard < shards; shard++) members[shard] = [];
        for (int slot = 0; slot < slots.Count; slot++)
        {
            _rankOfSlot[slot] = -1;
            if (!slots[slot].Taken) continue;
            int rank = view.RankOf(slots[slot].Member);
            _rankOfSlot[slot] = rank;
            _initialised[slot] = slots[slot].Initialised;
            _slotOfRank[rank] = slot;
            members[slot % shards].Add((ushort)slot);
        }
        _members = Array.ConvertAll(members, list => list.ToArray());
        _ranks = Array.ConvertAll(_members, list => Array.ConvertAll(list, slot => _rankOfSlot[slot]));
    }

    public int Shards { get; }

    public IReadOnlyList<SlotState> Slots => _slots;

    public int SlotCount => _slots.Length;

    public int ShardOf(ulong hash) => (int)(hash % (ulong)Shards);

    public int ShardOfSlot(int slot) => slot % Shards;

    /// <summary>Slots of a shard, ascending.</summary>
    public ReadOnlySpan<ushort> Members(int shard) => _members[shard];

    /// <summary>Ranks of a shard's members, by slot.</summary>
    public ReadOnlySpan<int> Ranks(int shard) => _ranks[shard];

    /// <summary>The rank of a slot's member; −1 for a hole or a slot that does not exist.</summary>
    public int RankOfSlot(int slot) => (uint)slot < (uint)_rankOfSlot.Length ? _rankOfSlot[slot] : -1;

    /// <summary>The slot of a rank; −1 for a member of the group without a slot.</summary>
    public int SlotOfRank(int rank) => (uint)rank < (uint)_slotOfRank.Length ? _slotOfRank[rank] : -1;

    public bool IsInitialised(int slot) => _initialised[slot];

    public void SetInitialised(int slot) => _initialised[slot] = true;

    /// <summary>The lowest initialised slot of a shard, which initialises its newcomers; −1 without one.</summary>
    public int Source(int shard)
    {
        foreach (ushort slot in _members[shard])
            if (_initialised[slot]) return slot;
        return -1;
    }

    /// <summary>An initialised slot of a shard, spread by <paramref name="spread"/>; −1 without one.</summary>
    public int Representative(int shard, uint spread)
    {
        var members = _members[shard];
        for (uint i = 0; i < members.Length; i++)
        {
            int slot = members[(spread + i) % (uint)members.Length];
            if (_initialised[slot]) return slot;
        }
        return -1;
    }
}
