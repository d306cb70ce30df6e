using System.Threading.Tasks.Sources;
using GroupCore.Basics;
using GroupCore.Runtime;

namespace Ida.Coordination;

/// <summary>An operation with a result for an awaiting caller; needs no task.</summary>
internal abstract class ClientOperation<TResult>(IOperationTaker layer) : ClientOperation(layer), IValueTaskSource<TResult>
{
    private ManualResetValueTaskSourceCore<TResult> _core;
    private CancellationTokenRegistration _cancellation;
    private CancellationToken _token;

    // The caller registers with the token, and the loop ends the call: whichever comes second ends the registration.
    private int _watch;

    /// <summary>Posts the operation and returns what the caller awaits. A call that is cancelled already leaves nothing behind.</summary>
    public ValueTask<TResult> Submit(CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            Drop();
            return ValueTask.FromCanceled<TResult>(cancellationToken);
        }
        _token = cancellationToken;
        short version = _core.Version;
        HandOver();
        if (!Layer.Node.TryPost(this)) return SubmitWhenRoom(cancellationToken);
        if (cancellationToken.CanBeCanceled) Watch(cancellationToken);
        return new(this, version);
    }

    public TResult GetResult(short token)
    {
        // Throws for a result that was taken already: the operation may serve another call by now.
        if (_core.GetStatus(token) == ValueTaskSourceStatus.Pending) throw new InvalidOperationException("The call has not ended: await it.");
        try
        {
            return _core.GetResult(token);
        }
        finally
        {
            _cancellation.Dispose();
            _cancellation = default;
            _token = default;
            _watch = 0;
            _core.Reset();
            LetGo();
        }
    }

    public ValueTaskSourceStatus GetStatus(short token) => _core.GetStatus(token);

    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);

    /// <summary>Makes the result from the parts, outside of the loop.</summary>
    protected abstract TResult Result();

    protected override void Deliver()
    {
        // The caller may never take the result, while the token lives on. Not Dispose: it would wait for a callback of the token that is running.
        if (_token.CanBeCanceled && Interlocked.Exchange(ref _watch, 1) != 0) _cancellation.Unregister();
        if (Error is OperationCanceledException) Error = new OperationCanceledException(_token);
        if (Error is null)
        {
            TResult result;
            try
            {
                result = Result();
            }
            catch (Exception error)
            {
                _core.SetException(error);
                return;
            }
            _core.SetResult(result);
            return;
        }
        _core.SetException(ISharedError.ForCall(Error));
    }

    // Taking the result disposes of the registration, which waits for a running callback, before the object serves another call: so a callback always meets the use it was made for.
    private void Watch(CancellationToken cancellationToken)
    {
        _cancellation = cancellationToken.UnsafeRegister(static op => ((ClientOperation)op!).RequestCancel(), this);
        if (Interlocked.Exchange(ref _watch, 1) != 0) _cancellation.Unregister();
    }

    private async ValueTask<TResult> SubmitWhenRoom(CancellationToken cancellationToken)
    {
        try
        {
            await Layer.Node.PostAsync(this, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception error)
        {
            var told = error is NodeStoppedException and not NodeFaultedException ? new NotDhtMemberException("The node has stopped.", error) : error;
            told = AtEnd(told);
            Drop();
            if (told != error) throw told;
            throw;
        }
        if (cancellationToken.CanBeCanceled) Watch(cancellationToken);
        return await new ValueTask<TResult>(this, _core.Version).ConfigureAwait(false);
    }
}
