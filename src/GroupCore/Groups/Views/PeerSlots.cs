using GroupCore.Membership;

namespace GroupCore.Groups.Views;

/// <summary>The slots of one peer. A group has one at most: with the next one that a peer binds to it, its membership before is over.</summary>
/// <remarks>
/// An install asks of each member for its slot, and a hostile one may have bound all that there are: few are looked through, of more it is
/// known which is a group's.
/// </remarks>
internal sealed class PeerSlots
{
    private const int Few = 32;
    private Binding?[] _slots = [];
    private Dictionary<GroupId, ushort>? _slotOf;

    /// <summary>Slots that are bound.</summary>
    public int Count { get; private set; }

    public Binding? this[ushort slot] => slot < _slots.Length ? _slots[slot] : null;

    /// <summary>What is bound to a group, null when nothing is.</summary>
    public Binding? Find(GroupId group) => SlotOf(group) is { } slot ? _slots[slot] : null;

    /// <summary>Binds a slot to a group, and no other one.</summary>
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

    /// <summary>Clears the slots of such groups.</summary>
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
