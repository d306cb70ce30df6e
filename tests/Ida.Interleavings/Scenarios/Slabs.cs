using GroupCore.Groups.Buffers;
using GroupCore.Groups.Dispatch;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>The slabs of events: the one that is filled, and those that only their events hold. Used in turns, except that handlers remove what they are through with.</summary>
internal sealed class Slabs(Schedule schedule)
{
    public const string Again = "a slab is used again";
    private readonly Dictionary<MessageSlab, int> _events = [];
    private readonly HashSet<MessageSlab> _givenUp = [];

    /// <summary>The slab that is filled.</summary>
    public MessageSlab? Current { get; private set; }

    public void Rent()
    {
        Current = MessageSlab.Rent();
        Reached.At(Again, _givenUp.Remove(Current));
        if (_events.GetValueOrDefault(Current) > 0) schedule.Fail("A slab is filled again while events hold it");
        _events[Current] = 0;
    }

    /// <summary>Nothing more is put into the current slab.</summary>
    public void GiveUp()
    {
        _givenUp.Add(Current!);
        Current!.Release(1);
    }

    public void Add(in GroupEvent entry) => _events[entry.Slab!]++;

    /// <summary>The event is handled, or will not be.</summary>
    public void Remove(in GroupEvent entry) => _events[entry.Slab!]--;

    /// <summary>To be called when all events are over: nobody but its filler holds a slab.</summary>
    public void Look()
    {
        Check.That(schedule, Current!.Alone, "Others than its filler hold a slab, or fewer");
        int free = _givenUp.Count;
        for (int i = 0; i < free; i++)
            if (!_givenUp.Remove(MessageSlab.Rent())) schedule.Fail("A slab that nobody holds is not given back");
    }
}
