using System.Buffers;
using GroupCore.Groups.Multicast;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.State;

/// <summary>
/// A checkpoint on its way: taken by the group's worker between the last delivery of one view and the first of the next (R16), written by
/// another worker beside the handlers, sent by the loop. Source: groupcore-oracle 9.1 (4), 9.2.
/// </summary>
internal sealed class StateCut(GroupProtocol group, View view) : NodeCommand, ICompletion
{
    private Action<IBufferWriter<byte>>? _write;
    private bool _written;
    private volatile StatePhase _phase;

    public View View { get; } = view;

    public PayloadBuffer Bytes { get; } = new();

    /// <summary>Of the bytes; computed where they are written, for the loop has no time for it.</summary>
    public ulong Hash { get; private set; } = new StateHash().Value;

    public Exception? Error { get; private set; }

    /// <summary>What <see cref="Error"/> says; it is a user's object, and asked outside of the turn.</summary>
    public string ErrorText { get; private set; } = "";

    public StatePhase Phase => Error is not null ? StatePhase.Failed : _phase;

    /// <summary>On the group's worker, at the view event.</summary>
    public void Take(Func<Action<IBufferWriter<byte>>>? snapshot)
    {
        _phase = StatePhase.Saving;
        try
        {
            _write = snapshot?.Invoke();
        }
        catch (Exception error)
        {
            Fail(error);
        }
        group.Post(this);
    }

    /// <summary>On the loop: first when taken, then when written.</summary>
    public override void Run()
    {
        if (_written || _write is null || Error is not null) group.SendState(this);
        else group.Node.Complete(this);
    }

    public override void Abandon(Exception reason)
    {
    }

    /// <summary>On a worker.</summary>
    void ICompletion.Run()
    {
        try
        {
            _write!(Bytes);
            var hash = new StateHash();
            hash.Add(Bytes.Written);
            Hash = hash.Value;
        }
        catch (Exception error)
        {
            Fail(error);
        }
        _written = true;
        _phase = StatePhase.Sending;
        group.Post(this);
    }

    private void Fail(Exception error) => (ErrorText, Error) = (UserError.Text(error), error);
}
