using System.Diagnostics.CodeAnalysis;
using Ida.Kinds;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Coordination;

/// <summary>Calls that name their put: an earlier one, whose outcome the caller does not know, or one to come, whose id it has taken.</summary>
internal sealed partial class Coordinator
{
    private const long AskAgain = 100_000_000;
    private const int FewAsk = 256;
    private const string OnlyMisplaced = "A hash refused the attempts of the member that issued the put, or a member lacked its map, and replicas remember no outcome of a retry: it was told, or is too long ago, or there is none.";
    private readonly KnownEnds _known = new(DhtLimits.KnownEnds, DhtLimits.KnownEndBytes);
    private readonly NamedPuts _named = new();

    // The first operation in flight that is no retry and holds back outcomes, and the first that is a put under a named id of this member. They only move forward: so each
    // operation is passed once, however many stand before these.
    private ClientOperation? _firstHolding, _firstNamed;

    // The number of puts of this member when the oldest put began that may hold outcomes back: a lower bound.
    private ulong _oldestPut;

    /// <summary>Most puts that may begin since the oldest open put of this member.</summary>
    internal ulong Window { get; set; } = DhtLimits.OpenPuts;

    /// <summary>
    /// Whether replicas have room for another outcome of this member: they remember all outcomes from <see cref="AckedBelow"/> on. Only
    /// puts leave outcomes, so reads do not count and do not wait.
    /// </summary>
    private bool InWindow
    {
        get
        {
            ulong puts = Numbers.Puts;
            if (puts - _oldestPut < Window) return true;
            _oldestPut = Math.Min(puts, _firstHolding?.PutsBefore ?? puts);
            if (_firstNamed is { } named) _oldestPut = Math.Min(_oldestPut, named.PutsBefore);
            foreach (var running in _early) _oldestPut = Math.Min(_oldestPut, running.PutsBefore);
            return puts - _oldestPut < Window;
        }
    }

    /// <summary>
    /// Whether this operation, while in flight, keeps later outcomes from being acknowledged. One-key reads do not, since replicas keep no
    /// attempts of them; retries of this member's puts are counted separately.
    /// </summary>
    private static bool HoldsBack(ClientOperation op) => op.Requested is null && (op.Kind.Changes || op.PartCount > 1);

    private bool IsNamedHere(ClientOperation op) => op.Requested is not null && op.Id.Session == state.Session;

    /// <summary>Operations looked at to find the first that holds back; for tests of that cost.</summary>
    internal long HoldLooks { get; private set; }

    private void AddInFlight(ClientOperation op)
    {
        _inFlight.Add(op);
        if (HoldsBack(op)) _firstHolding ??= op;
        if (!IsNamedHere(op)) return;
        _firstNamed ??= op;
        _named.Add(op);
    }

    private void RemoveInFlight(ClientOperation op)
    {
        if (op == _firstHolding) _firstHolding = NextInFlight(op, named: false);
        if (op == _firstNamed) _firstNamed = NextInFlight(op, named: true);
        if (op.Requested is not null) _named.Remove(op);
        _inFlight.Remove(op);
    }

    private ClientOperation? NextInFlight(ClientOperation op, bool named)
    {
        for (var next = op.Next; ; next = next.Next)
        {
            HoldLooks++;
            if (next is null || (named ? IsNamedHere(next) : HoldsBack(next))) return next;
        }
    }

    /// <summary>Ids from this number on count as given, without asking: for schedules that number their clients' puts themselves; null otherwise.</summary>
    internal ulong? GivenFrom { get; set; }

    /// <summary>
    /// Whether a put of this session may have the number: it was given to a put, or taken for one. A future id must not be used: replicas would take its outcome for that of the put
    /// which gets the id later, and could never be told to forget ids far ahead. Nor may the ids of reads be used, which are even.
    /// </summary>
    private bool WasGiven(OperationId id) => (id.Sequence <= Numbers.Last && !OperationNumbers.IsOfRead(id.Sequence)) || id.Sequence >= GivenFrom;

    private static ArgumentException NeverGiven(OperationId operation) =>
        new($"{nameof(PutOptions)}.{nameof(PutOptions.Operation)} is {operation}, which no put was given. It may be the id of an earlier put only, from {nameof(PutResult)} or {nameof(OutcomeUnknownException)}, or one of Dht.{nameof(NewOperation)}.", nameof(operation));

    /// <summary>
    /// Only the member of the session knows which ids it has given: another member asks it before the first attempt, while it is a member.
    /// When it has gone, no new ids are given.
    /// </summary>
    private bool MustAskWhetherGiven(ClientOperation op) => op is { Requested: not null, IsGiven: false } && !(op.Id.Sequence >= GivenFrom) && state.OwnerOf(op.Id.Session) is >= 0 and var owner && owner != state.Rank;

    /// <summary>Whether a retry has to be sent; not so where the outcome is known here, or the put is under way here.</summary>
    private bool MayBegin(ClientOperation op, OperationId requested)
    {
        op.Id = requested;
        if (requested.Session == state.Session && !WasGiven(requested))
        {
            Finish(op, NeverGiven(requested));
            return false;
        }
        if (_known.TryGet(requested, out var end) && (end.Executed || PutPayload.SamePairs(end.Payload, op.Payload)) && end.Status != EndStatus.Misplaced)
        {
            if (end.Executed && PutPayload.SamePairs(end.Payload, op.Payload)) Tell(op, end);
            else Finish(op, About(op, new OperationIdReusedException(requested)));
        }
        else if (!_pending.TryGetValue(requested, out var running))
        {
            return true;
        }
        else if (!PutPayload.SamePairs(running.Payload, op.Payload))
        {
            // This member does not know which of two retries has the pairs of the put.
            Finish(op, running.Requested is null ? About(op, new OperationIdReusedException(requested))
                : Unresolved(op, "Another retry of the put, with other pairs, is under way at this member; nothing new is known of the put."));
        }
        else if (running.Phase == OperationPhase.Detached && running.Follower is null && op.Move(OperationPhase.Following))
        {
            (running.Follower, op.Leader) = (op, running);
        }
        else
        {
            Finish(op, new ArgumentException($"Operation {requested} is under way at this member, and another call waits for it.", nameof(op)));
        }
        return false;
    }

    /// <summary>An operation has ended: ends the call that waited for it.</summary>
    private void PassOn(ClientOperation op, ClientOperation follower, Exception? error)
    {
        // If keys are placed differently, the parts are in another order.
        follower.WithoutResult = op.WithoutResult || op.Payload != follower.Payload;
        for (int i = 0; i < follower.PartCount && !follower.WithoutResult; i++) Give(follower, i, op.Parts[i].Version, op.Parts[i].Report);
        // Of the attempts of this operation alone it is known that nothing was executed: other retries may be under way.
        if (error is DhtConfigurationException or MapNotAgreedException) Refuse(follower, NeverHeld(follower, -1));
        else Finish(follower, error);
    }

    /// <summary>The put that a retry repeats was executed, with this result.</summary>
    private void Tell(ClientOperation op, KnownEnd end)
    {
        op.WithoutResult = end.Versions.Count == 0 || end.Payload != op.Payload;
        for (int i = 0; i < end.Versions.Count && !op.WithoutResult; i++) Give(op, i, end.Versions[i], end.ReportAt(i));
        Finish(op, null);
    }

    /// <summary>Keeps the outcome of a put whose caller was told "unknown", since the acknowledgement lets replicas forget it.</summary>
    private void Remember(ClientOperation op, Exception? error)
    {
        var status = error switch
        {
            null => EndStatus.Executed,
            OperationIdReusedException => EndStatus.OtherPairs,
            DhtConfigurationException or MapNotAgreedException => EndStatus.Misplaced,
            _ => EndStatus.Forgotten,
        };
        if (!op.Kind.Changes || status == EndStatus.Forgotten || (error is not null && op.Requested is not null)) return;
        bool results = error is null && !op.WithoutResult;
        Span<ulong> versions = new ulong[results ? op.PartCount : 0];
        PutReport?[]? reports = null;
        for (int i = 0; i < versions.Length; i++)
        {
            versions[i] = op.Parts[i].Version;
            if (op.Parts[i].Report is { } report) (reports ??= new PutReport?[versions.Length])[i] = report;
        }
        _known.Add(op.Id, new(op.Payload, status, new(versions), reports));
    }

    /// <summary>Replicas were told that the outcome of this put is known: the member of its session may still know it.</summary>
    private void AskHowItEnded(ClientOperation op)
    {
        int owner = state.OwnerOf(op.Id.Session);
        if (owner < 0 || owner == state.Rank)
        {
            if (EndsAsExecuted(op)) return;
            bool misplaced = owner == state.Rank && _known.TryGet(op.Id, out var end) && end.Status == EndStatus.Misplaced && PutPayload.SamePairs(end.Payload, op.Payload);
            Finish(op, About(op, new OutcomeForgottenException(op.Id, owner < 0 ? "The session of the put is over, and no replica remembers it."
                : misplaced ? OnlyMisplaced : "The outcome was told, or is too long ago.")));
            return;
        }
        bool room = HasRoom(owner);
        if (MayPark(op, owner))
        {
            Park(op, owner);
        }
        else if (op.Phase == OperationPhase.Admitted && (op.Asks || !room))
        {
            // It keeps its share for one question, which a healthy member answers soon.
            Refuse(op, Overloaded(op));
            return;
        }
        if (room) send.AskEnd(owner, new(op.Id, op.Attempt, op.Payload), owner);
        // That member may stall: all waiting operations together ask it no more often than a few of them would.
        op.RetryAt = state.Node.Now + (op.IsParked ? AskAgain * (1 + (_parked.Count / FewAsk)) : AskAgain);
        op.Asks = true;
    }

    /// <summary>Another member asks how a put of this session ended.</summary>
    public void OnAskEnd(int from, in AttemptId key)
    {
        var status = WasGiven(key.Id) ? EndStatus.Forgotten : EndStatus.NeverGiven;
        bool known = _known.TryGet(key.Id, out var end), same = known && PutPayload.SamePairs(end.Payload, key.Payload), pending = _pending.TryGetValue(key.Id, out var op) && op.Kind.Changes;
        if (known && end.Executed) status = same ? EndStatus.Executed : EndStatus.OtherPairs;
        // The put asked for may be the one executed instead, or a retry after refused attempts.
        else if (pending && PutPayload.SamePairs(op!.Payload, key.Payload)) status = EndStatus.UnderWay;
        else if (same) status = end.Status;
        // Another retry with other pairs says nothing: the put asked for may be the one that was executed.
        else if (pending && op!.Requested is null) status = EndStatus.OtherPairs;
        send.End(from, key, state.Rank, status, status == EndStatus.Executed && end!.Payload == key.Payload ? end : null);
    }

    /// <summary>
    /// The retry that waits for such an answer from <paramref name="from"/>. The answer is about the put, so it may belong to any of the
    /// questions: it may take longer than the next question waits.
    /// </summary>
    public bool TryAsking(int from, in AttemptId key, [NotNullWhen(true)] out ClientOperation? op) =>
        _pending.TryGetValue(key.Id, out op) && op.IsInFlight && op.Asks && op.Payload == key.Payload
        && state.OwnerOf(key.Id.Session) == from;

    /// <summary>The answer to the question how the put ended, with results in the parts where there are any.</summary>
    public void OnEnd(ClientOperation op, EndStatus status, bool results)
    {
        if (!op.IsGiven && status != EndStatus.NeverGiven)
        {
            // The question was whether the id was given. What replicas remember of the put counts more than this answer.
            op.IsGiven = true;
            Issue(op);
            return;
        }
        if (status is EndStatus.Forgotten or EndStatus.Misplaced && EndsAsExecuted(op)) return;
        switch (status)
        {
            case EndStatus.NeverGiven:
                Finish(op, NeverGiven(op.Id));
                break;
            case EndStatus.Forgotten:
                Finish(op, About(op, new OutcomeForgottenException(op.Id, "The member that issued the put has told its outcome, or it or the taking of its id is too long ago.")));
                break;
            case EndStatus.Executed:
                op.WithoutResult = !results;
                Finish(op, null);
                break;
            case EndStatus.OtherPairs:
                Finish(op, About(op, new OperationIdReusedException(op.Id)));
                break;
            case EndStatus.Misplaced:
                // Replicas have said that they forgot the put: so there may have been another attempt.
                Finish(op, About(op, new OutcomeForgottenException(op.Id, OnlyMisplaced)));
                break;
        }
    }

    /// <summary>A participant has said that the put was executed, and no member remembers more.</summary>
    private bool EndsAsExecuted(ClientOperation op)
    {
        if (!op.Executed) return false;
        op.WithoutResult = true;
        Finish(op, null);
        return true;
    }

    /// <summary>Outcomes of this member's session below this number are not asked for any more.</summary>
    private ulong AckedBelow()
    {
        ulong below = Math.Min(Numbers.KeptFrom(), Math.Min(_firstHolding?.Id.Sequence ?? ulong.MaxValue, _named.Least));
        foreach (var running in _early) below = Math.Min(below, running.Key.Id.Sequence);
        return below;
    }

    private static void Give(ClientOperation op, int part, ulong version, PutReport? report)
    {
        ref var to = ref op.Parts[part];
        (to.HasResult, to.ResultTime, to.Version, to.Report) = (true, OperationPart.Executed, version, report);
    }
}
