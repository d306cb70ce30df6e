using System.Collections;
using System.Diagnostics.CodeAnalysis;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Seams;

/// <summary>
/// A <see cref="System.Collections.Concurrent.ConcurrentQueue{T}"/>. Putting in and taking out are fences; looking is not. A queue in a static field is empty at the beginning of a schedule.
/// </summary>
internal sealed class QueueSeam<T> : IEnumerable<T>
{
    private readonly Queue<T> _items = new();
    private int _schedule;

    public int Count
    {
        get
        {
            Explored.Point("count");
            return Items().Count;
        }
    }

    public bool IsEmpty => Count == 0;

    public void Enqueue(T item)
    {
        Explored.Fence("enqueue");
        Items().Enqueue(item);
    }

    public bool TryDequeue([MaybeNullWhen(false)] out T item)
    {
        Explored.Point("dequeue");
        if (!Items().TryDequeue(out item)) return false;
        Explored.Settle();
        return true;
    }

    public IEnumerator<T> GetEnumerator() => _items.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    private Queue<T> Items()
    {
        if (Lane.Current is { Schedule.Number: var number } && number != _schedule)
        {
            _schedule = number;
            _items.Clear();
        }
        return _items;
    }
}
