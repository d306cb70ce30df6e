namespace GroupCore.Hosting;

/// <summary>Keeps the batches of one loop for reuse.</summary>
internal sealed class CompletionBatchPool(Action<Exception> onFault, Action onRan)
{
    private readonly CompletionBatch?[] _free = new CompletionBatch?[16];

    /// <summary>Called when a completion threw, against its contract.</summary>
    public Action<Exception> OnFault => onFault;

    /// <summary>Called when a runner on the thread pool has no more completions to run.</summary>
    public Action OnRan => onRan;

    public CompletionBatch Rent()
    {
        for (int i = 0; i < _free.Length; i++)
            if (_free[i] is not null && Interlocked.Exchange(ref _free[i], null) is { } batch) return batch;
        return new(this);
    }

    public void Return(CompletionBatch batch)
    {
        for (int i = 0; i < _free.Length; i++)
            if (_free[i] is null && Interlocked.CompareExchange(ref _free[i], batch, null) is null) return;
    }
}
