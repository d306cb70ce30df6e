using GroupCore.Basics;
using GroupCore.Runtime;

namespace GroupCore.Groups.Calls;

/// <summary>A caller that waits until every multicast that it sent or delivered is held by all members. Source: multicast.md#a-stability-wait-includes-the-order.</summary>
internal sealed class StabilityWait : ICompletion
{
    private readonly TaskCompletionSource _done = new();

    public Exception? Error { get; set; }

    public Task Task => _done.Task;

    public bool IsCancelled => _done.Task.IsCanceled;

    public void Cancel(CancellationToken cancellationToken) => _done.TrySetCanceled(cancellationToken);

    public void Run()
    {
        if (Error is { } error) _done.TrySetException(ISharedError.ForCall(error));
        else _done.TrySetResult();
    }
}
