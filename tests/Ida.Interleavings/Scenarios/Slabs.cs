using GroupCore.Groups.Buffers;
using GroupCore.Groups.Dispatch;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>The slabs of events: the one that is filled, and those that only their events hold. In turns, but for what the handlers are through with.</summary>
internal sealed class Slabs(Schedule schedule)
{
    public const string Again = "a slab is used again";
    private readonly Dictionary<MessageSlab, int> _events = [];
    private readonly HashSet<MessageSlab> _givenUp = [];

    /// <summary>The one that is filled.</summary>
    public MessageSlab? Current { get; private set; }

    public void Rent()
    {
        Current = MessageSlab.Rent();
        Reached.At(Again, _givenUp.Remove(Current));
        if (_events.GetValueOrDefault(Current) > 0) schedule.Fail("A slab is filled again while events hold it");
        _events[Current] = 0;
    }

    /// <summary>Nothing more is filled in.</summary>
    public void GiveUp()
    {
        _givenUp.Add(Current!);
        Current!.Release(1);
    }

    public void Add(in GroupEvent entry) => _events[entry.Slab!]++;

    /// <summary>It is handled, or will not be.</summary>
    public void Remove(in GroupEvent entry) => _events[entry.Slab!]--;

    /// <summary>When all events are over: nobody holds a slab but its filler.</summary>
    public void Look()
    {
        Check.That(schedule, Current!.Alone, "Others than its filler hold a slab, or fewer");
        int free = _givenUp.Count;
        for (int i = 0; i < free; i++)
            if (!_givenUp.Remove(MessageSlab.Rent())) schedule.Fail("A slab that nobody holds is not given back");
    }
}
