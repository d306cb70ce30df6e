using GroupCore.Groups.Calls;
using GroupCore.Groups.Dispatch;
using GroupCore.Runtime;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>The handlers that the dispatcher calls.</summary>
internal sealed class EventTarget : IEventTarget, ITurnParticipant, IStopListener
{
    public const string Elsewhere = "a handler goes on elsewhere", Dropped = "what waits is dropped";
    private readonly Schedule _schedule;
    private readonly Dispatcher _dispatcher;
    private readonly Exclusive _handlers = new("the handlers");
    private readonly INode _node;
    private readonly Slabs _slabs;
    private readonly HashSet<ulong> _open = [];
    private ulong _handled;
    private ulong _told;
    private ulong _number;
    private bool _dropped;

    public EventTarget(Schedule schedule, INode node, Slabs slabs)
    {
        (_schedule, _node, _slabs) = (schedule, node, slabs);
        _dispatcher = new(node, this, inline: false);
    }

    public ExecutionContext Context { get; } = ExecutionContext.Capture()!;

    public Exception? Skipped => null;

    /// <summary>No handler is to be called any more.</summary>
    public bool Drops { get; private set; }

    /// <summary>How many events are not handled, as the loop knows at the end of its turn; −1 within a turn that adds some.</summary>
    public long Backlog { get; private set; }

    public void Add(GroupEvent entry)
    {
        entry.Number = ++_number;
        Backlog = -1;
        _slabs.Add(entry);
        _dispatcher.Add(entry);
    }

    public void Drop()
    {
        if (Drops) return;
        Reached.At(Dropped, _handled != _number);
        Drops = true;
        _dispatcher.Drop(new InvalidDataException("dropped"));
        _dropped = true;
    }

    /// <summary>To be called before a slab is given up.</summary>
    public void TakeHolds() => _dispatcher.TakeHolds();

    public void EndOfTurn()
    {
        _dispatcher.Publish();
        Backlog = _dispatcher.Backlog;
    }

    public void OnStop(Exception reason) => _dispatcher.Abandon(reason);

    public object? Enter() => null;

    public void Exit(object? outer)
    {
    }

    public ValueTask Handle(ref GroupEvent entry)
    {
        using var one = _handlers.Enter($"event {entry.Number}");
        if (entry.Number <= _handled) _schedule.Fail($"Event {entry.Number} was handled behind {_handled}");
        if (!_dropped && entry.Number != _handled + 1) _schedule.Fail($"Event {entry.Number} was handled next to {_handled}");
        _handled = entry.Number;
        if (_schedule.Draw(2) == 0) Post(entry.Number);
        _slabs.Remove(entry);
        if (_schedule.Draw(3) != 0) return default;
        Reached.At(Elsewhere);
        var later = new TaskCompletionSource();
        _schedule.Start($"handler{entry.Number}", later.SetResult);
        return new(later.Task);
    }

    /// <summary>Whether all events count as handled for the other members; after a drop they need not.</summary>
    public bool IsTold => _told == _number || Drops;

    public bool OnHandled(long events)
    {
        foreach (ulong number in _open)
            if (number <= (ulong)events) _schedule.Fail($"Event {events} counts as handled, and what the handler of {number} posted has not run");
        _told = (ulong)events;
        return _told < _number;
    }

    private void Post(ulong number)
    {
        _open.Add(number);
        _node.Post(new CallCommand(() => _open.Remove(number)));
    }

    public void OnDropped(in GroupEvent entry) => _slabs.Remove(entry);

    public void OnProgress()
    {
    }
}
