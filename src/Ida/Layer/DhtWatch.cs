using GroupCore.Diagnostics;
using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Coordination;
using Ida.Ordering;

namespace Ida;

/// <summary>Tells the log about one member's part in a DHT: its steps as they happen, and once a second what its counters say.</summary>
internal sealed class DhtWatch(DhtState state, Coordinator coordinator, Participant participant)
{
    private const long Second = 1_000_000_000, SlowTransfer = 10 * Second;
    private readonly NodeLog _log = state.Node.Log;
    private Episode _refusals;
    private long _takeovers;
    private int _slot = -1, _shard = -1;
    private long? _asked;
    private long _askedAt;
    private bool _slowTold;

    /// <summary>The member serves in a view.</summary>
    public void OnServing(bool founded, View view, int shards)
    {
        if (founded) _log.DhtFounded(state.GroupName, view.Id, shards, view.Members.Count);
        if ((state.Slot, state.Shard) != (_slot, _shard))
            _log.SlotTaken(state.GroupName, state.Slot, state.Shard, state.Initialised ? "with its state" : "whose state it has to get");
        (_slot, _shard) = (state.Slot, state.Shard);
        if (state.Initialised) _asked = null;
    }

    /// <summary>The member asks for the state, and in a later view again, for the rest.</summary>
    public void OnTransfer(int sourceRank)
    {
        if (_asked is null) (_asked, _askedAt, _slowTold) = (state.Counters.StateBytesReceived, state.Node.Now, false);
        if (_log.IsOn) _log.TransferBegun(state.GroupName, $"{state.Port.View?.Members[sourceRank].Address}", state.Shard);
    }

    /// <summary>The member has the state.</summary>
    public void OnWhole()
    {
        if (_asked is { } before)
            _log.TransferEnded(state.GroupName, state.Shard, state.Counters.StateBytesReceived - before, participant.Slice.Table.Count, (state.Node.Now - _askedAt) / 1_000_000);
        _asked = null;
    }

    public void OnOver(Exception reason)
    {
        if (reason is NodeFaultedException) return;
        if (reason is ShardDepopulatedException lost) _log.ShardDepopulated(state.GroupName, lost.Shard);
        else _log.DhtOver(state.GroupName, reason.Message);
    }

    /// <summary>Once a second, inside a turn, if there is a logger.</summary>
    public void Look(long now)
    {
        int change = _refusals.Look(state.Counters.Refused, now);
        if (change > 0) _log.OperationsRefused(state.GroupName, coordinator.InFlight, coordinator.WaitingCount);
        else if (change < 0) _log.OperationsAccepted(state.GroupName, _refusals.Cases);
        long takeovers = state.Counters.Takeovers;
        if (takeovers != _takeovers) _log.TakenOver(state.GroupName, takeovers - _takeovers);
        _takeovers = takeovers;
        if (participant.Effects.TakeSlowResolvers() is { Count: > 0 } slow) _log.ResolverSlow(state.GroupName, slow.Map, slow.Count, slow.Longest / 1_000_000);
        if (_asked is not { } before || _slowTold || now - _askedAt < SlowTransfer) return;
        _slowTold = true;
        _log.TransferSlow(state.GroupName, (now - _askedAt) / Second, state.Shard, state.Counters.StateBytesReceived - before);
    }
}
