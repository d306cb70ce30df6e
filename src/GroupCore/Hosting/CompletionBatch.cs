using GroupCore.Basics;
using GroupCore.Runtime;

namespace GroupCore.Hosting;

/// <summary>
/// The completions of one turn. They begin in order; while one takes long, the next ones run beside it. The loop's own thread runs them, or the thread pool.
/// A runner of the pool queues a spare runner before the first completion that leaves others waiting: if that completion blocks, the spare goes on with the
/// rest, and queues a spare in its turn. If the loop's thread blocks, the loop's other thread adds a runner (<see cref="AddRunner"/>).
/// </summary>
internal sealed class CompletionBatch(CompletionBatchPool pool) : IThreadPoolWorkItem
{
    /// <summary>The array kept for the next turn has at most this many places; a larger one, grown by a burst, is dropped.</summary>
    public const int Kept = Node.CompletionsKept;

    private const int Least = 16;
    [ThreadStatic]
    private static CompletionBatchPool? t_running;
    private ICompletion[] _items = new ICompletion[Least];
    private int _count;
    private int _next;
    private int _runners;

    /// <summary>Whether this thread runs completions of the loop to which <paramref name="pool"/> belongs.</summary>
    public static bool IsRunning(CompletionBatchPool pool) => ReferenceEquals(t_running, pool);

    /// <summary>How many completions it has.</summary>
    public int Count => _count;

    /// <summary>Copies the completions in for one runner, which the caller starts by <see cref="Queue"/> or <see cref="RunHere"/>.</summary>
    public void Take(List<ICompletion> completions)
    {
        _count = completions.Count;
        if (_items.Length < _count) _items = new ICompletion[Math.Max(_count, Math.Min(_count * 2, Kept))];
        completions.CopyTo(_items);
        _next = 0;
        Volatile.Write(ref _runners, 1);
    }

    /// <summary>Starts the runner on the thread pool.</summary>
    public void Queue() => ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);

    /// <summary>Starts one more runner on the thread pool if completions are left to start. The batch may serve a later turn by now: a surplus runner does no harm.</summary>
    public void AddRunner()
    {
        int runners = Volatile.Read(ref _runners);
        while (runners > 0 && Volatile.Read(ref _next) < _count)
        {
            int seen = Interlocked.CompareExchange(ref _runners, runners + 1, runners);
            if (seen == runners)
            {
                Queue();
                return;
            }
            runners = seen;
        }
    }

    /// <summary>Runs the batch on a thread of the pool.</summary>
    public void Execute()
    {
        Run(mayQueue: true);
        pool.OnRan();
    }

    /// <summary>Runs the batch on the loop's thread.</summary>
    public void RunHere() => Run(mayQueue: false);

    // With mayQueue this runner is the newest: it queues the next spare before the first completion that leaves others waiting.
    private void Run(bool mayQueue)
    {
        t_running = pool;
        var surroundings = Surroundings.Take();
        while (true)
        {
            int at = Interlocked.Increment(ref _next) - 1;
            if (at >= _count) break;
            if (mayQueue && at + 1 < _count)
            {
                mayQueue = false;
                Interlocked.Increment(ref _runners);
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: true);
            }
            Run(_items[at]);
            surroundings.Restore();
        }
        t_running = null;
        if (Interlocked.Decrement(ref _runners) != 0) return;
        if (_items.Length > Kept) _items = new ICompletion[Least];
        else Array.Clear(_items, 0, _count);
        pool.Return(this);
    }

    private void Run(ICompletion completion)
    {
        try
        {
            completion.Run();
        }
        catch (Exception error)
        {
            pool.OnFault(error);
        }
    }
}
