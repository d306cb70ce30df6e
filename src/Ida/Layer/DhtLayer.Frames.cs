using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Wire;

namespace Ida;

/// <summary>Passes incoming frames to the parts of this member, and handles the state of a shard as it arrives.</summary>
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
            case DhtFrame.Pull: _source.OnPull(rank, ref from); break;
            case DhtFrame.Chunk: OnChunk(rank, ref from); break;
            case DhtFrame.ChunkAck: _source.OnAck(rank); break;
            case DhtFrame.StateEnd: OnStateEnd(rank, ref from); break;
            case DhtFrame.Fetch: _source.OnFetch(rank, ref from); break;
            case DhtFrame.Fetched: OnFetched(rank, ref from); break;
            case DhtFrame.Ready: OnReady(rank); break;
            case DhtFrame.Settle: _collection.OnSettle(rank, ref from); break;
            default: _messages.OnFrame(rank, type, ref from); break;
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
