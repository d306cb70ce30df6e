using System.Collections;
using System.Diagnostics.CodeAnalysis;

namespace Ida.Interleavings.Seams;

/// <summary>A <see cref="System.Collections.Concurrent.ConcurrentQueue{T}"/>. One in a static field is empty at the beginning of a schedule.</summary>
internal sealed class QueueSeam<T> : IEnumerable<T>
{
    private Queue<T> Items => Explored.Of<Queue<T>>(this);

    public int Count
    {
        get
        {
            Explored.Fence("count");
            return Items.Count;
        }
    }

    public bool IsEmpty => Count == 0;

    public void Enqueue(T item)
    {
        Explored.Fence("enqueue");
        Items.Enqueue(item);
    }

    public bool TryDequeue([MaybeNullWhen(false)] out T item)
    {
        Explored.Fence("dequeue");
        return Items.TryDequeue(out item);
    }

    public IEnumerator<T> GetEnumerator() => Items.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
