using System.Collections.Concurrent;

namespace Ida;

/// <summary>A pool of operations for any thread. An operation whose caller threw while building it is not returned: this is rare, and it leaves nothing behind.</summary>
internal sealed class OperationPool<T>(Func<OperationPool<T>, T> make) where T : class
{
    private const int Kept = 4096;
    private readonly ConcurrentQueue<T> _free = new();

    /// <summary>Operations that are not in use at the moment.</summary>
    internal IEnumerable<T> Free => _free;

    public T Rent() => _free.TryDequeue(out var op) ? op : make(this);

    public void Return(T op)
    {
        if (_free.Count < Kept) _free.Enqueue(op);
    }
}
