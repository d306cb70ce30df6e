using System.Buffers;
using GroupCore.Basics;
using GroupCore.Groups.Buffers;
using GroupCore.Groups.Dispatch;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.State;

/// <summary>
/// A checkpoint on its way: taken by the group's worker between the last delivery of one view and the first of the next (R16), written by
/// another worker while the handlers go on, sent by the loop. User code that writes nothing for long is given up: its joiners are told, and what it writes
/// later is dropped. A checkpoint of a view that is over is dropped wherever it is. <see cref="StateWriting"/> decides when each is written.
/// Source: state-transfer.md#the-checkpoint-is-cut-at-the-view-event.
/// </summary>
internal sealed class StateCut(StateOffer offer, INode node, View view, long limit) : NodeCommand, ICompletion
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

    /// <summary>Hash of the bytes; computed by the worker that writes them, as the loop has no time for it.</summary>
    public ulong Hash { get; private set; } = new StateHash().Value;

    public Exception? Error => Volatile.Read(ref _failure)?.Error;

    /// <summary>The text of <see cref="Error"/>. That is a user's object, so its text is asked for outside of the turn.</summary>
    public string ErrorText => Volatile.Read(ref _failure)?.Text ?? "";

    public StatePhase Phase => Error is not null ? StatePhase.Failed : _phase;

    public bool IsDropped => _dropped;

    /// <summary>On the loop: whether its joiners were told how it ended.</summary>
    public bool IsTold => _told;

    /// <summary>On the loop: whether it is taken and waits until earlier checkpoints are written.</summary>
    public bool IsInLine { get; private set; }

    /// <summary>The view is over: the next one has another checkpoint.</summary>
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
            // A snapshot that returns nothing to write with must not count as an empty state: a joiner would take that for the whole state.
            else if (table.Snapshot is { } snapshot) _write = StateWriter.NotAsync(snapshot() ?? throw new InvalidOperationException("The snapshot of the state returned null."), nameof(snapshot));
        }
        catch (Exception error)
        {
            Fail(error);
        }
        // Writing may have to wait for earlier checkpoints.
        _phase = StatePhase.Queued;
        node.Post(this);
    }

    /// <summary>On the loop: it is this checkpoint's turn to be written.</summary>
    public void Start()
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

    /// <summary>On the loop: the user code that saves this is not waited for any more.</summary>
    public void GiveUp(TimeSpan limit) => Fail(new TimeoutException($"The state was not saved: {Bytes.Length} bytes were written, then nothing for {limit}."));

    /// <summary>Runs on the loop twice: when it is taken, and when it is written.</summary>
    public override void Run()
    {
        if (_written) offer.Writing.OnWritten(this);
        if (IsTold) return;
        if (_written || _write is null || Error is not null) offer.Send(this);
        else offer.Writing.Begin(this);
    }

    public override void Abandon(Exception reason)
    {
    }

    /// <summary>Writes it, on a worker.</summary>
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
        node.Post(this);
    }

    /// <summary>On the loop: true the first time only, as joiners are told only once how the checkpoint ended.</summary>
    public bool TryTell() => !_told && (_told = true);

    /// <summary>On any thread: the user's code wrote after it had returned. Those bytes may be missing, so the checkpoint fails, unless joiners were told already.</summary>
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

    // The first failure counts: of user code, or of the loop that has given it up.
    private void Fail(Exception error) => Interlocked.CompareExchange(ref _failure, new(error, UserError.Text(error)), null);

    private sealed record Failure(Exception Error, string Text);
}
