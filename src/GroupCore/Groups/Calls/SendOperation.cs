using System.Collections.Concurrent;
using System.Runtime.ExceptionServices;
using System.Threading.Tasks.Sources;
using GroupCore.Basics;
using GroupCore.Groups.Buffers;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.Calls;

/// <summary>
/// A caller's message on its way to the loop, and the task that the caller awaits; pooled. Its bytes are written on the caller's thread.
/// It belongs to one side at a time: caller until posted, loop until completed, caller again until its result is taken.
/// </summary>
internal sealed class SendOperation : NodeCommand, ICompletion, IThreadPoolWorkItem, IValueTaskSource
{
    private const int Pooled = 4_096;
    private static readonly ConcurrentQueue<SendOperation> s_pool = new();
    private static int s_pooled;
    private ManualResetValueTaskSourceCore<bool> _core;
    private CancellationTokenRegistration _cancellation;
    private int _cancelled;

    public ICallTaker Group { get; private set; } = null!;

    public PayloadBuffer Payload { get; } = new();

    public MessageKind Kind { get; private set; }

    public uint Handler { get; private set; }

    /// <summary>Whether the caller has already taken its part of the window.</summary>
    public bool Charged { get; set; }

    /// <summary>Whether nobody awaits this call: it completed when posted, since the window had room or a handler or hook made it; or it is a query, whose answers count.</summary>
    public bool Detached { get; set; }

    /// <summary>Bytes of the message that were sent in this view: large messages go fragment by fragment.</summary>
    public int Sent { get; set; }

    /// <summary>For point-to-point: the member it is for.</summary>
    public ProcessId? To { get; set; }

    /// <summary>For point-to-point: the share of that member in the group's budget.</summary>
    public PeerShare? Share { get; set; }

    /// <summary>For point-to-point: number of the message in whose handler it was called, else 0.</summary>
    public ulong Parent { get; set; }

    /// <summary>For point-to-point: the termination hook that sends it, else null.</summary>
    public TerminationContext? Hook { get; set; }

    /// <summary>For queries: their number, else 0.</summary>
    public ulong Query { get; set; }

    public Exception? Error { get; set; }

    public CancellationToken CancelledBy { get; private set; }

    public bool IsCancelled => Volatile.Read(ref _cancelled) != 0;

    /// <summary>What the caller awaits.</summary>
    public ValueTask Task => new(this, _core.Version);

    public static SendOperation Rent(ICallTaker group, MessageKind kind, uint handler)
    {
        if (s_pool.TryDequeue(out var call)) Interlocked.Decrement(ref s_pooled);
        else call = new();
        call._core.RunContinuationsAsynchronously = false;
        (call.Group, call.Kind, call.Handler) = (group, kind, handler);
        return call;
    }

    /// <summary>Gives it back when nobody awaits it.</summary>
    public void Recycle()
    {
        _cancellation.Dispose();
        (_cancellation, CancelledBy, _cancelled) = (default, default, 0);
        (Charged, Detached, Sent, To, Share, Parent, Hook, Query, Error) = (false, false, 0, null, null, 0, null, 0, null);
        Group = null!;
        Payload.Reset();
        _core.Reset();
        if (Interlocked.Increment(ref s_pooled) <= Pooled) s_pool.Enqueue(this);
        else Interlocked.Decrement(ref s_pooled);
    }

    /// <summary>Lets the token end the caller's wait as long as nothing is sent.</summary>
    public void CancelBy(CancellationToken token)
    {
        if (!token.CanBeCanceled) return;
        CancelledBy = token;
        _cancellation = token.UnsafeRegister(static (state, _) =>
        {
            var call = (SendOperation)state!;
            Volatile.Write(ref call._cancelled, 1);
            call.Group?.PostCancelled();
        }, this);
    }

    internal override bool IsKept => !Detached;

    public override void Run() => Group.Take(this);

    public override void Abandon(Exception reason)
    {
        // Nobody waits for a detached call; it is not used again, since a turn that threw may have left it in some queue.
        if (Detached) return;
        Error = reason;
        Group.Node.Complete(this);
    }

    void ICompletion.Run()
    {
        // Perhaps nobody ever takes the result, and the token may live on. Not Dispose: that would wait for a token that is just firing.
        _cancellation.Unregister();
        if (Error is { } error) _core.SetException(ISharedError.ForCall(error));
        else _core.SetResult(true);
    }

    /// <summary>Completes a call whose message was delivered and handled, or passed over with an <paramref name="error"/>.</summary>
    /// <remarks>Called on the worker that runs the handlers: the caller that awaits it must not continue there.</remarks>
    public void Complete(Exception? error)
    {
        Error = error;
        Group.Node.Resume(this);
    }

    void IThreadPoolWorkItem.Execute()
    {
        var node = Group.Node;
        try
        {
            ((ICompletion)this).Run();
        }
        catch (Exception error)
        {
            // The host reports it, like an error of any completion.
            node.Resume(new ActionCompletion(() => ExceptionDispatchInfo.Throw(error)));
        }
    }

    void IValueTaskSource.GetResult(short token)
    {
        // Throws for a result that was taken already: this object may be another call's by now.
        if (_core.GetStatus(token) == ValueTaskSourceStatus.Pending) throw new InvalidOperationException("The call has not ended: await it.");
        try
        {
            _core.GetResult(token);
        }
        finally
        {
            Recycle();
        }
    }

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
