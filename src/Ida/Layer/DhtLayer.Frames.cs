using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Wire;

namespace Ida;

/// <summary>Passes each incoming frame to its method, and handles the state of a shard as it arrives. Messages of operations are read beside the method that writes them (<c>DhtMessages</c>); the bytes of a transfer are in <c>StateCodec</c>.</summary>
internal sealed partial class DhtLayer
{
    // The clock at the view change, once the whole state has arrived and until all that waited for it has been handled; otherwise null.
    private ulong? _wholeAt;

    public void OnFrame(int rank, FrameType type, ReadOnlySpan<byte> body)
    {
        if (!_state.Acts || IsOver || _state.Map!.SlotOfRank(rank) < 0 || rank == _state.Rank)
        {
            Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        var from = new BodyReader(body);
        switch (type)
        {
            case DhtFrame.Propose: _messages.OnPropose(rank, ref from); break;
            case DhtFrame.Proposed: _messages.OnProposed(rank, ref from); break;
            case DhtFrame.Commit: _messages.OnCommit(rank, ref from); break;
            case DhtFrame.Quiescent: _messages.OnQuiescent(rank, ref from); break;
            case DhtFrame.Stable: _messages.OnStable(rank, ref from); break;
            case DhtFrame.Executed: _messages.OnExecuted(rank, ref from); break;
            case DhtFrame.Abort: _messages.OnAbort(rank, ref from); break;
            case DhtFrame.Aborted: _messages.OnAborted(rank, ref from); break;
            case DhtFrame.Rejected: _messages.OnRejected(rank, ref from); break;
            case DhtFrame.Get: _messages.OnGet(rank, ref from); break;
            case DhtFrame.Value: _messages.OnValue(rank, ref from); break;
            case DhtFrame.Recover: _messages.OnRecover(rank, ref from); break;
            case DhtFrame.NotHeld: _messages.OnNotHeld(rank, ref from); break;
            case DhtFrame.Forward: _messages.OnForward(rank, ref from); break;
            case DhtFrame.AskEnd: _messages.OnAskEnd(rank, ref from); break;
            case DhtFrame.End: _messages.OnEnd(rank, ref from); break;
            case DhtFrame.Settle: _collection.OnSettle(rank, ref from); break;
            case DhtFrame.Pull: _source.OnPull(rank, ref from); break;
            case DhtFrame.Chunk: OnChunk(rank, ref from); break;
            case DhtFrame.ChunkAck: _source.OnAck(rank); break;
            case DhtFrame.StateEnd: OnStateEnd(rank, ref from); break;
            case DhtFrame.Fetch: _source.OnFetch(rank, ref from); break;
            case DhtFrame.Fetched: OnFetched(rank, ref from); break;
            case DhtFrame.Ready: OnReady(rank); break;
            default: Node.Counters.Refuse(RefusalReason.UnknownType); break;
        }
        _messages.Drain();
    }

    private void OnChunk(int from, ref BodyReader body)
    {
        if (_state.Initialised) Node.Counters.Refuse(RefusalReason.Unexpected);
        else _sink.OnChunk(from, ref body);
    }

    private void OnFetched(int from, ref BodyReader body)
    {
        // The answer to the last question may arrive after the state.
        if (!_state.Initialised && _wholeAt is null) _sink.OnFetched(from, ref body);
    }

    private void OnStateEnd(int from, ref BodyReader body)
    {
        if (_state.Initialised || !_sink.OnEnd(from, ref body, out ulong clock)) return;
        _wholeAt = clock;
        // At once if little waits: the view may end in this turn.
        TakeArrived();
    }

    /// <summary>Goes on with what waited for the state. When all of that has been handled and the state is whole, this member is initialised.</summary>
    private void TakeArrived()
    {
        if (!_participant.Late.TakeArrived() || _wholeAt is not { } clock) return;
        _wholeAt = null;
        _sink.Forget();
        _participant.BecomeInitialised(clock);
        Watch.OnWhole();
        _state.Map!.SetInitialised(_state.Slot);
        Coordinator.OnMemberInitialised();
        Events?.OnInitialised(true);
        for (int slot = 0; slot < _state.Map.SlotCount; slot++)
        {
            int rank = _state.Map.RankOfSlot(slot);
            if (rank < 0 || rank == _state.Rank) continue;
            _ = _send.Room(1);
            _send.Send(rank, DhtFrame.Ready, 0);
        }
    }

    private void OnReady(int from)
    {
        _state.Map!.SetInitialised(_state.Map.SlotOfRank(from));
        _source.OnReady();
        Coordinator.OnMemberInitialised();
        OnSuccessor(from);
    }
}
