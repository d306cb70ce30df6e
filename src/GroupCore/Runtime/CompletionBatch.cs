namespace GroupCore.Runtime;

/// <summary>
/// The completions of one turn: begun in their order, and side by side where one takes long. The loop's own thread runs them, or the thread pool. A runner on the pool that starts one while
/// more remain first queues one spare runner, which goes on with the rest when the first is stuck in a completion that blocks, and so
/// on; for a stuck thread of the loop the other one does that.
/// </summary>
internal sealed class CompletionBatch(CompletionBatchPool pool) : IThreadPoolWorkItem
{
    /// <summary>Places for so many completions are kept for the next turn; a burst's are given back.</summary>
    public const int Kept = 8_192;

    private const int Least = 16;
    [ThreadStatic]
    private static CompletionBatchPool? t_running;
    private ICompletion[] _items = new ICompletion[Least];
    private int _count;
    private int _next;
    private int _runners;

    /// <summary>Whether this thread runs completions of that loop.</summary>
    public static bool IsRunning(CompletionBatchPool pool) => ReferenceEquals(t_running, pool);

    /// <summary>How many completions it has.</summary>
    public int Count => _count;

    /// <summary>Takes the completions over for one runner, which has to come.</summary>
    public void Take(List<ICompletion> completions)
    {
        _count = completions.Count;
        if (_items.Length < _count) _items = new ICompletion[Math.Max(_count, Math.Min(_count * 2, Kept))];
        completions.CopyTo(_items);
        _next = 0;
        Volatile.Write(ref _runners, 1);
    }

    /// <summary>Gives the pool the runner.</summary>
    public void Queue() => ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);

    /// <summary>Gives the pool one more runner, if there is something left to start. The batch may have been used again meanwhile: a runner too many does no harm.</summary>
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

    /// <summary>A runner on the pool.</summary>
    public void Execute()
    {
        Run(mayQueue: true);
        pool.OnRan();
    }

    /// <summary>The runner is the loop's thread.</summary>
    public void RunHere() => Run(mayQueue: false);

    // With mayQueue this runner is the newest: it may queue the next spare, at the first completion that leaves others waiting.
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
