using System.Diagnostics.CodeAnalysis;
using GroupCore.Groups.Calls;

namespace GroupCore.Groups.PointToPoint;

/// <summary>
/// The calls that wait for one receiver, in their order. Calls of handlers, which have completed already, have a line of their own, so that they can be
/// taken before the others without a search.
/// </summary>
internal sealed class CallLine
{
    private readonly Queue<(long Number, SendOperation Call)> _callers = new();
    private Queue<(long Number, SendOperation Call)>? _handlers;
    private long _next;

    public int Count => _callers.Count + (_handlers?.Count ?? 0);

    public void Enqueue(SendOperation call)
    {
        // A query is detached too, but somebody waits for its answers.
        var line = call.Detached && call.Query == 0 ? _handlers ??= new() : _callers;
        line.Enqueue((_next++, call));
    }

    public bool TryPeek([NotNullWhen(true)] out SendOperation? call)
    {
        call = First()?.Peek().Call;
        return call is not null;
    }

    /// <summary>Removes the first call of all, which was sent or ended.</summary>
    public void Dequeue() => First()!.Dequeue();

    /// <summary>Takes the first call of a handler, whatever waits before it.</summary>
    public bool TryDequeueOfHandlers([NotNullWhen(true)] out SendOperation? call)
    {
        call = _handlers is not null && _handlers.TryDequeue(out var first) ? first.Call : null;
        return call is not null;
    }

    /// <summary>Ends the calls whose callers do not wait any more; returns how many. Nobody waits for a handler's call.</summary>
    public int RemoveCancelled(PendingCalls calls)
    {
        int removed = 0;
        for (int count = _callers.Count; count > 0; count--)
        {
            var entry = _callers.Dequeue();
            if (calls.TryCancel(entry.Call)) removed++;
            else _callers.Enqueue(entry);
        }
        return removed;
    }

    private Queue<(long Number, SendOperation Call)>? First()
    {
        bool callers = _callers.TryPeek(out var one);
        if (_handlers is null || !_handlers.TryPeek(out var other)) return callers ? _callers : null;
        return callers && one.Number < other.Number ? _callers : _handlers;
    }
}
