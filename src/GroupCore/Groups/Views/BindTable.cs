using System.Buffers.Binary;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport.Mesh;

namespace GroupCore.Groups.Views;

/// <summary>What each slot of each peer stands for: a group and a full view id. Bounded per peer. Source: views-and-flush.md#every-frame-names-its-view.</summary>
internal sealed class BindTable
{
    /// <summary>group number u32, incarnation u32, view u64; the slot is in the header.</summary>
    public const int Body = 16;
    private readonly PeerTable<PeerSlots> _byPeer = new();

    public Binding? Find(int peer, ushort slot) => _byPeer[peer]?[slot];

    /// <summary>
    /// Binds a slot of a peer to a group, if <paramref name="isKnown"/> says so of the group and the peer has fewer than <paramref name="most"/> bindings. A Bind that is
    /// not taken only clears its slot.
    /// </summary>
    /// <returns>Null if the Bind is taken, else why it is refused.</returns>
    public RefusalReason? OnBind(int peer, ushort slot, ReadOnlySpan<byte> body, Func<GroupId, bool> isKnown, int most = GroupLimits.GroupsPerProcess)
    {
        if (body.Length != Body || slot == 0 || slot > GroupLimits.GroupsPerProcess) return RefusalReason.Malformed;
        var id = new GroupId(BinaryPrimitives.ReadUInt32LittleEndian(body), BinaryPrimitives.ReadUInt32LittleEndian(body[4..]));
        ulong view = BinaryPrimitives.ReadUInt64LittleEndian(body[8..]);
        var slots = _byPeer[peer];
        if (!isKnown(id) || (slots?.Count >= most && slots[slot] is null && slots.Find(id) is null))
        {
            slots?.Clear(slot);
            return RefusalReason.StaleView;
        }
        // A peer only moves forward in a group; its frames of an earlier view come before this Bind on the link.
        if (Find(peer, slot) is { } bound && bound.Id == id && view < bound.View) return RefusalReason.Malformed;
        var binding = (_byPeer[peer] ??= new()).Bind(slot, id);
        (binding.View, binding.Group) = (view, null);
        return null;
    }

    /// <summary>Whether a peer has announced that view of a group, or a later one.</summary>
    public bool IsIn(int peer, GroupId group, ulong view) => _byPeer[peer]?.Find(group) is { } binding && binding.View >= view;

    /// <summary>Drops the bindings of all peers to the groups that <paramref name="which"/> chooses.</summary>
    public void Forget(Predicate<GroupId> which)
    {
        for (int peer = _byPeer.Next(0); peer >= 0; peer = _byPeer.Next(peer + 1))
        {
            _byPeer[peer]!.Clear(which);
            if (_byPeer[peer]!.Count == 0) _byPeer[peer] = null;
        }
    }

    /// <summary>The link is over: nothing comes over it any more.</summary>
    public void Forget(int peer) => _byPeer[peer] = null;

    /// <summary>Bindings held.</summary>
    public int Count
    {
        get
        {
            int count = 0;
            for (int peer = _byPeer.Next(0); peer >= 0; peer = _byPeer.Next(peer + 1)) count += _byPeer[peer]!.Count;
            return count;
        }
    }

    public static void Write(Span<byte> body, GroupId id, ulong view)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(body, id.Number);
        BinaryPrimitives.WriteUInt32LittleEndian(body[4..], id.Incarnation);
        BinaryPrimitives.WriteUInt64LittleEndian(body[8..], view);
    }
}
