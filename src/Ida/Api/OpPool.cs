using System.Collections.Concurrent;

namespace Ida;

/// <summary>Operations used again, from any thread. One whose caller threw while it was built is not given back: it is rare, and nothing is left of it.</summary>
internal sealed class OpPool<T>(Func<OpPool<T>, T> make) where T : class
{
    private const int Kept = 4096;
    private readonly ConcurrentQueue<T> _free = new();

    /// <summary>Those that nobody has at the moment.</summary>
    internal IEnumerable<T> Free => _free;

    public T Rent() => _free.TryDequeue(out var op) ? op : make(this);

    public void Return(T op)
    {
        if (_free.Count < Kept) _free.Enqueue(op);
    }
}
