using System.Buffers;
using GroupCore.Groups.Dispatch;
using GroupCore.Groups.Multicast;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.State;

/// <summary>
/// A checkpoint on its way: taken by the group's worker between the last delivery of one view and the first of the next (R16), written by
/// another worker beside the handlers, sent by the loop. User code that writes nothing for long is given up: its joiners hear so, and
/// what it comes to later is of no use. One of a view that is over is dropped where it is. When, is for <see cref="StateWriting"/> to say.
/// Source: state-transfer.md#the-checkpoint-is-cut-at-the-view-event.
/// </summary>
internal sealed class StateCut(GroupProtocol group, View view, long limit) : NodeCommand, ICompletion
{
    private Action<IBufferWriter<byte>>? _write;
    private bool _written;
    private volatile StatePhase _phase;
    private Failure? _failure;
    private (StatePhase Phase, int Bytes) _seen;
    private long _seenAt;
    private volatile bool _dropped;
    private volatile bool _told;

    public View View { get; } = view;

    public PayloadBuffer Bytes { get; } = new();

    /// <summary>Of the bytes; computed where they are written, for the loop has no time for it.</summary>
    public ulong Hash { get; private set; } = new StateHash().Value;

    public Exception? Error => Volatile.Read(ref _failure)?.Error;

    /// <summary>What <see cref="Error"/> says; it is a user's object, and asked outside of the turn.</summary>
    public string ErrorText => Volatile.Read(ref _failure)?.Text ?? "";

    public StatePhase Phase => Error is not null ? StatePhase.Failed : _phase;

    public bool IsDropped => _dropped;

    /// <summary>On the loop: whether its joiners were told how it ended.</summary>
    public bool IsTold => _told;

    /// <summary>On the loop: it is taken, and those before it are being written.</summary>
    public bool IsInLine { get; private set; }

    /// <summary>Its view is over: the next one has another.</summary>
    public void Drop() => _dropped = true;

    public void StandInLine() => IsInLine = true;

    /// <summary>On the group's worker, at the view event.</summary>
    public void Take(HandlerTable table)
    {
        if (_dropped) return;
        _phase = StatePhase.Saving;
        try
        {
            if (table.Save is { } save)
            {
                Write(save);
                _write = static _ => { };
            }
            // Nothing to write it with is no empty state: a joiner would take that for all there is.
            else if (table.Snapshot is { } snapshot) _write = StateWriter.NotAsync(snapshot() ?? throw new InvalidOperationException("The snapshot of the state returned null."), nameof(snapshot));
        }
        catch (Exception error)
        {
            Fail(error);
        }
        // It may have to wait for those before it.
        _phase = StatePhase.Queued;
        group.Post(this);
    }

    /// <summary>On the loop: it is this one's turn to be written.</summary>
    public void Start(INode node)
    {
        IsInLine = false;
        _phase = StatePhase.Saving;
        _ = QuietFor(node.Now);
        node.Complete(this);
    }

    /// <summary>On the loop, now and then: for how long user code has been at work and has written nothing, in nanoseconds.</summary>
    public long QuietFor(long now)
    {
        var seen = (_phase, Bytes.Length);
        if (seen.Item1 != StatePhase.Saving || seen != _seen) (_seen, _seenAt) = (seen, now);
        return now - _seenAt;
    }

    /// <summary>On the loop: nobody waits for this user code any more.</summary>
    public void GiveUp(TimeSpan limit) => Fail(new TimeoutException($"The state was not saved: {Bytes.Length} bytes were written, and nothing for {limit}."));

    /// <summary>On the loop: first when taken, then when written.</summary>
    public override void Run()
    {
        if (_written) group.Writing.OnDone(this);
        if (IsTold) return;
        if (_written || _write is null || Error is not null) group.SendState(this);
        else group.Writing.Begin(this);
    }

    public override void Abandon(Exception reason)
    {
    }

    /// <summary>On a worker.</summary>
    void ICompletion.Run()
    {
        try
        {
            if (!_dropped) Write(_write!);
            var hash = new StateHash();
            hash.Add(Bytes.Written);
            Hash = hash.Value;
        }
        catch (Exception error)
        {
            Fail(error);
        }
        (_written, _write) = (true, null);
        _phase = StatePhase.Sending;
        group.Post(this);
    }

    /// <summary>On the loop: its joiners are told how it ended, once.</summary>
    public bool TryTell() => !_told && (_told = true);

    /// <summary>On any thread, when the code that saves it has returned: what it writes now may be missing, so that it is not whole. What was told stands.</summary>
    public Exception FailLate(Exception error)
    {
        if (!_told) Fail(error);
        return error;
    }

    private void Write(Action<IBufferWriter<byte>> write)
    {
        var to = new StateWriter(this, Bytes, limit);
        try
        {
            write(to);
        }
        finally
        {
            to.Close();
        }
    }

    // By user's code, or by the loop that has given it up.
    private void Fail(Exception error) => Interlocked.CompareExchange(ref _failure, new(error, UserError.Text(error)), null);

    private sealed record Failure(Exception Error, string Text);
}
