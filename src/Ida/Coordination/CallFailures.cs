using Ida.Maps;
using Ida.Shared;

namespace Ida.Coordination;

/// <summary>The errors that end calls: what was wrong, and what is known of where it came about.</summary>
internal sealed class CallFailures(DhtState state, OpenCalls calls, Routes routes)
{
    public const string OnlyMisplaced = "A hash refused the attempts of the member that issued the put, or a member lacked its map, and replicas remember no outcome of a retry: it was acknowledged, is too old, or there is none.";

    public static string Why(ClientOperation op, Exception reason) =>
        reason is OperationCanceledException ? "The call was cancelled" : $"The time of the call, {TimeSpan.FromTicks(op.Timeout / 100)}, was over";

    /// <summary>The last sentence of an error that ends a call with nothing executed; empty for a retry, since the put it repeats may be executed.</summary>
    public static string Nothing(ClientOperation op) => op.Requested is null ? " Nothing was executed." : "";

    public OutcomeUnknownException Unresolved(ClientOperation op, string message, Exception? reason = null) => About(op, new OutcomeUnknownException(op.Id, message, reason));

    /// <summary>The view of this member's part, or the last one that it had; null before the first.</summary>
    public ulong? LastView => state.View == 0 ? null : state.View;

    /// <summary>Adds to the error of a call where it arose: the member with this rank, or else the member for which the operation waits.</summary>
    public T About<T>(ClientOperation op, T error, int rank = -1) where T : DhtException
    {
        if (rank < 0) rank = Awaited(op);
        int slot = state.Map?.SlotOfRank(rank) ?? -1;
        if (slot >= 0) (error.Peer, error.Shard) = (state.Map!.Slots[slot].Member, state.Map.ShardOfSlot(slot));
        else if (op.Parts[0].Shard == op.Parts[op.PartCount - 1].Shard) error.Shard = op.Parts[0].Shard;
        error.View = LastView;
        error.QueueDepth = calls.WaitingOperations;
        return error;
    }

    /// <summary>The rank of a member for which an operation waits: for room or an answer while parked, else for its proposal, else for a later answer; −1 if it waits for none.</summary>
    private int Awaited(ClientOperation op)
    {
        if (op.Awaits >= 0 || op.Running is not { } running || state.Map is not { } map) return op.Awaits;
        foreach (var answer in (ReadOnlySpan<SlotFlags>)[SlotFlags.Proposed | SlotFlags.Answered, SlotFlags.Answered])
            for (int i = 0; i < running.Count; i++)
                if ((running.Flags[i] & answer) == SlotFlags.None) return map.RankOfSlot(running.Slots[i]);
        return -1;
    }

    public DhtException Late(ClientOperation op)
    {
        var waited = TimeSpan.FromTicks(op.Timeout / 100);
        if (!state.Acts) return About(op, new ViewUnavailableException($"After {waited} there is no view to act in."));
        return state.Blocked || !state.Port.HoldsLease ? About(op, new ViewUnavailableException($"After {waited} there is no contact with the primary partition."))
            : About(op, new OperationNotExecutedException($"Not executed within {waited}; {calls.InFlight.Count} operations are in flight and {calls.Waiting.Count} wait at this member."));
    }

    public OverloadedException Overloaded(ClientOperation op)
    {
        state.Counters.CountRefused();
        if (state.Node.Links.IsFull) return About(op, new OverloadedException(state.Node.Links.TimeToRoom, "The links of this node hold as many bytes as they may." + Nothing(op)));
        calls.Measure();
        return About(op, new OverloadedException(calls.TimeToPlace(op),
            $"{calls.WaitingOperations} operations with {calls.WaitingBytes} bytes wait at this member beside {calls.OnTheWay} with {calls.Shares.Taken} bytes in flight.{Nothing(op)}"));
    }

    public OverloadedException TooMany(ClientOperation op, int rank)
    {
        state.Counters.CountRefused();
        calls.Measure();
        return About(op, new OverloadedException(calls.TimeFor((calls.InFlight.Count / 8) + 1), "Too many operations wait at a participant." + Nothing(op)), rank);
    }

    public OverloadedException OutcomesFull(ClientOperation op, int rank)
    {
        state.Counters.CountRefused();
        calls.Measure();
        return About(op, new OverloadedException(calls.TimeFor((calls.InFlight.Count / 8) + 1), $"A participant has no room for more outcomes of {(op.Id.Session == state.Session ? "this member's puts" : "puts under ids of another member, which also gave this put's id")}.{Nothing(op)}"), rank);
    }

    /// <summary>No participant will ever hold the operation: a member lacks what it uses, or places its keys differently.</summary>
    public DhtException NeverHeld(ClientOperation op, int rank) => routes.Lacking(op) is { } lacking ? NotAgreed(op, lacking) : Misplaced(op, rank);

    public MapNotAgreedException NotAgreed(ClientOperation op, Declared lacking)
    {
        var error = lacking.NotAgreed(op.Requested is not null);
        (error.View, error.QueueDepth) = (state.View, calls.WaitingOperations);
        return error;
    }

    public DhtConfigurationException Misplaced(ClientOperation op, int rank) =>
        About(op, new DhtConfigurationException($"The hash function {state.Maps.HashName}, or the shard key of a map, puts a key of the operation into another shard at another member, or throws there. A hash function must depend on nothing but the bytes that it gets, a shard key on nothing but the key.{Nothing(op)}"), rank);

    public OperationNotExecutedException ClockAhead(ClientOperation op, int rank) =>
        About(op, new OperationNotExecutedException($"The time of the operation would be more than {TimeSpan.FromMicroseconds(HybridClock.Jump >> 12)} ahead of the clocks of most members: the clock of this member is wrong, or that of a member that wrote one of its keys. Members align their clocks at each view change.{Nothing(op)}"), rank);

    public static ArgumentException NeverGiven(OperationId operation) =>
        new($"{nameof(PutOptions)}.{nameof(PutOptions.Operation)} is {operation}, an id that was given to no put. Use the id of an earlier put, from {nameof(PutResult)} or {nameof(OutcomeUnknownException)}, or one of Dht.{nameof(Coordinator.NewOperation)}.", nameof(operation));
}
