using GroupCore.Membership;

namespace GroupCore.Groups.Views;

/// <summary>The slots of one peer, at most one for each group: when the peer binds another slot to a group, its earlier membership there is over.</summary>
/// <remarks>
/// An install looks up the slot of each member, and a hostile peer may have bound all slots. So a few slots are searched one by one, and more have
/// an index by group.
/// </remarks>
internal sealed class PeerSlots
{
    private const int Few = 32;
    private Binding?[] _slots = [];
    private Dictionary<GroupId, ushort>? _slotOf;

    /// <summary>Slots that are bound.</summary>
    public int Count { get; private set; }

    public Binding? this[ushort slot] => slot < _slots.Length ? _slots[slot] : null;

    /// <summary>The binding of a group, null when there is none.</summary>
    public Binding? Find(GroupId group) => SlotOf(group) is { } slot ? _slots[slot] : null;

    /// <summary>Binds a slot, and no other one, to a group.</summary>
    public Binding Bind(ushort slot, GroupId group)
    {
        if (this[slot] is { } bound)
        {
            if (bound.Id == group) return bound;
            Clear(slot);
        }
        if (SlotOf(group) is { } earlier) Clear(earlier);
        if (slot >= _slots.Length) Grow(slot);
        Count++;
        _slotOf?.Add(group, slot);
        return _slots[slot] = new() { Id = group };
    }

    public void Clear(ushort slot)
    {
        if (this[slot] is not { } binding) return;
        _slots[slot] = null;
        Count--;
        _slotOf?.Remove(binding.Id);
    }

    /// <summary>Clears the slots of the groups that <paramref name="which"/> chooses.</summary>
    public void Clear(Predicate<GroupId> which)
    {
        for (ushort slot = 0; slot < _slots.Length; slot++)
            if (_slots[slot] is { } binding && which(binding.Id)) Clear(slot);
    }

    private ushort? SlotOf(GroupId group)
    {
        if (_slotOf is not null) return _slotOf.TryGetValue(group, out ushort known) ? known : null;
        for (ushort slot = 0; slot < _slots.Length; slot++)
            if (_slots[slot] is { } binding && binding.Id == group) return slot;
        return null;
    }

    private void Grow(ushort slot)
    {
        Array.Resize(ref _slots, Math.Max(slot + 1, Math.Min(_slots.Length * 2, GroupLimits.GroupsPerProcess + 1)));
        if (_slots.Length <= Few || _slotOf is not null) return;
        _slotOf = [];
        for (ushort one = 0; one < _slots.Length; one++)
            if (_slots[one] is { } binding) _slotOf.Add(binding.Id, one);
    }
}
