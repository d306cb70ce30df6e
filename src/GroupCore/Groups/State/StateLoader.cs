using System.Buffers.Binary;
using System.Text;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.State;

/// <summary>
/// A joiner's side of one view: collects the checkpoint while the messages of the view are held. A wedged joiner ignores it: the next view brings another. If the
/// giver is silent, the joiner asks for a view; a giver that says that it is saving is waited for. Source: state-transfer.md#a-wedged-joiner-takes-no-state,
/// #silence-asks-for-another-view, #a-joiner-acknowledges-what-it-holds.
/// </summary>
internal sealed class StateLoader : ITimerTarget
{
    private readonly IStateTaker _group;
    private readonly View _view;
    private readonly long _limit;
    private TimerHandle _timer;
    private byte[]? _bytes;
    private int _received;
    private StateHash _hash = new();
    private readonly long _begun;
    private long _opened;
    private long _lastHeard;
    private bool _over;

    public StateLoader(IStateTaker group, View view, long limit)
    {
        (_group, _view, _limit) = (group, view, limit);
        _begun = _lastHeard = group.Node.Now;
        _timer = group.Node.SetTimer(_lastHeard + GroupLimits.StateStallNanoseconds, this, 0);
    }

    public void OnFrame(int rank, FrameType type, ReadOnlySpan<byte> body)
    {
        if (_over || _group.IsWedged || rank != _view.Coordinator)
        {
            _group.Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        _lastHeard = _group.Node.Now;
        switch (type)
        {
            case FrameType.StateSign when body.Length >= 9 && body[0] <= (byte)StatePhase.Failed: OnSign((StatePhase)body[0], BinaryPrimitives.ReadInt64LittleEndian(body[1..]), body[9..]); break;
            case FrameType.StateOpen when body.Length == 8 && _bytes is null: OnOpen(BinaryPrimitives.ReadInt64LittleEndian(body)); break;
            case FrameType.StateChunk when body.Length > 8 && _bytes is not null: OnChunk(BinaryPrimitives.ReadInt64LittleEndian(body), body[8..]); break;
            case FrameType.StateEnd when body.Length == 16 && _bytes is not null:
                OnEnd(BinaryPrimitives.ReadInt64LittleEndian(body), BinaryPrimitives.ReadUInt64LittleEndian(body[8..]));
                break;
            default: _group.Node.Counters.Refuse(RefusalReason.Malformed); break;
        }
    }

    private void OnSign(StatePhase phase, long events, ReadOnlySpan<byte> text)
    {
        var giver = _view.Members[_view.Coordinator].Address;
        if (phase == StatePhase.Failed) _group.FailJoin($"its state could not be saved at {giver}: {Encoding.UTF8.GetString(text)}");
        else if (phase == StatePhase.Saving) _group.Joining.OnState(phase, _lastHeard - _begun, _begun, $"the state that {giver} saves");
        else if (phase == StatePhase.Queued) _group.Joining.OnQueued($"{giver}", events, _begun);
    }

    private void OnOpen(long length)
    {
        _opened = _lastHeard;
        _group.Joining.OnState(StatePhase.Sending, 0, _begun, "the group's state");
        if (length < 0 || length > Math.Min(_limit, Array.MaxLength)) _group.FailJoin($"its state has {length} bytes and this process accepts at most {_limit}");
        else Allocate((int)length);
    }

    /// <summary>The giver says how long the state is: if there is no memory for it, the join ends and not the node.</summary>
    private void Allocate(int length)
    {
        try
        {
            _bytes = GC.AllocateUninitializedArray<byte>(length);
        }
        catch (OutOfMemoryException)
        {
            _group.FailJoin($"its state has {length} bytes, for which this process has no memory");
        }
    }

    private void OnChunk(long offset, ReadOnlySpan<byte> chunk)
    {
        if (offset != _received || chunk.Length > _bytes!.Length - _received)
        {
            _group.Node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        chunk.CopyTo(_bytes.AsSpan(_received));
        _hash.Add(chunk);
        _received += chunk.Length;
        _group.Joining.OnPiece();
        _group.Joining.OnState(StatePhase.Sending, _received, _begun, "the rest of the group's state");
        var frame = _group.Links.Frame(FrameType.StateAck, 8);
        BinaryPrimitives.WriteInt64LittleEndian(frame, _received);
        _group.Links.SendTo(_view.Coordinator);
    }

    private void OnEnd(long length, ulong hash)
    {
        if (length != _received || _received != _bytes!.Length || hash != _hash.Value)
        {
            _group.Node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        var state = _bytes;
        Close();
        _group.Load(_view, state, _lastHeard - _opened);
    }

    /// <summary>The view is over, or the state complete: releases what it received, which may be as much as a gigabyte for each of many short views.</summary>
    public void Close()
    {
        _over = true;
        _bytes = null;
        _group.Node.CancelTimer(_timer);
    }

    void ITimerTarget.OnTimer(long token)
    {
        if (_over) return;
        if (_group.IsWedged) _lastHeard = _group.Node.Now;
        if (_group.Node.Now - _lastHeard >= GroupLimits.StateStallNanoseconds)
        {
            _lastHeard = _group.Node.Now;
            _group.Requeue();
            if (_over) return;
        }
        _timer = _group.Node.SetTimer(_lastHeard + GroupLimits.StateStallNanoseconds, this, 0);
    }
}
