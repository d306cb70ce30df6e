namespace GroupCore.Runtime;

/// <summary>
/// The completions of one turn as one work item of the pool. Runners take completions in order; a runner that starts one while more
/// remain first queues one spare runner, which goes on with the rest when the first is stuck in a completion that blocks, and so on.
/// </summary>
internal sealed class CompletionBatch(CompletionBatchPool pool) : IThreadPoolWorkItem
{
    private ICompletion[] _items = new ICompletion[16];
    private int _count;
    private int _next;
    private int _runners;

    public void Start(List<ICompletion> completions)
    {
        _count = completions.Count;
        if (_items.Length < _count) _items = new ICompletion[_count * 2];
        completions.CopyTo(_items);
        _next = 0;
        _runners = 1;
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    public void Execute()
    {
        // This runner is the newest: it may queue the next spare, at the first completion that leaves others waiting.
        bool mayQueue = true;
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
        }
        if (Interlocked.Decrement(ref _runners) != 0) return;
        Array.Clear(_items, 0, _count);
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
