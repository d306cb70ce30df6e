using System.Diagnostics.CodeAnalysis;
using Ida.Kinds;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Coordination;

/// <summary>Calls that name their put: an earlier put whose outcome the caller does not know, or a later one whose id it has taken.</summary>
internal sealed partial class Coordinator
{
    private const long AskAgain = 100_000_000;
    private const int FewAsk = 256;
    private readonly KnownEnds _known = new(DhtLimits.KnownEnds, DhtLimits.KnownEndBytes);

    /// <summary>
    /// Only the member of the session knows which ids it has given: another member asks it before the first attempt, as long as it is a member.
    /// Once it has gone, no new ids are given.
    /// </summary>
    private bool MustAskWhetherGiven(ClientOperation op) => op is { Requested: not null, IsGiven: false } && !(op.Id.Sequence >= Puts.GivenFrom) && _state.OwnerOf(op.Id.Session) is >= 0 and var owner && owner != _state.Rank;

    /// <summary>Whether a retry has to be sent. If its outcome is known here, or the put is under way here, this ends the call or lets it wait.</summary>
    private bool MayBegin(ClientOperation op, OperationId requested)
    {
        op.Id = requested;
        if (requested.Session == _state.Session && !Puts.WasGiven(requested))
        {
            Finish(op, CallFailures.NeverGiven(requested));
            return false;
        }
        if (_known.TryGet(requested, out var end) && (end.Executed || PutPayload.SamePairs(end.Payload, op.Payload)) && end.Status != EndStatus.Misplaced)
        {
            if (end.Executed && PutPayload.SamePairs(end.Payload, op.Payload)) Tell(op, end);
            else Finish(op, _errors.About(op, new OperationIdReusedException(requested)));
        }
        else if (!_pending.TryGetValue(requested, out var running))
        {
            return true;
        }
        else if (!PutPayload.SamePairs(running.Payload, op.Payload))
        {
            // This member does not know which of two retries has the pairs of the put.
            Finish(op, running.Requested is null ? _errors.About(op, new OperationIdReusedException(requested))
                : _errors.Unresolved(op, "Another retry of the put, with other pairs, is under way at this member; nothing new is known of the put."));
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
        for (int i = 0; i < follower.PartCount && !follower.WithoutResult; i++) follower.Give(i, op.Parts[i].Version, op.Parts[i].Report);
        // Only of this operation's own attempts is it known that nothing was executed: other retries may be under way.
        if (error is DhtConfigurationException or MapNotAgreedException) Refuse(follower, _errors.NeverHeld(follower, -1));
        else Finish(follower, error);
    }

    /// <summary>The put that a retry repeats was executed, with this result.</summary>
    private void Tell(ClientOperation op, KnownEnd end)
    {
        op.WithoutResult = end.Versions.Count == 0 || end.Payload != op.Payload;
        for (int i = 0; i < end.Versions.Count && !op.WithoutResult; i++) op.Give(i, end.Versions[i], end.ReportAt(i));
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
    public void AskHowItEnded(ClientOperation op)
    {
        int owner = _state.OwnerOf(op.Id.Session);
        if (owner < 0 || owner == _state.Rank)
        {
            if (EndsAsExecuted(op)) return;
            bool misplaced = owner == _state.Rank && _known.TryGet(op.Id, out var end) && end.Status == EndStatus.Misplaced && PutPayload.SamePairs(end.Payload, op.Payload);
            Finish(op, _errors.About(op, new OutcomeForgottenException(op.Id, owner < 0 ? "The session of the put is over, and no replica remembers it."
                : misplaced ? CallFailures.OnlyMisplaced : "The outcome was acknowledged, or is too old.")));
            return;
        }
        bool room = _routes.HasRoom(owner);
        if (_open.MayPark(op, owner))
        {
            _open.Park(op, owner);
        }
        else if (op.Phase == OperationPhase.Admitted && (op.Asks || !room))
        {
            // It keeps its share for one question, which a healthy member answers soon.
            Refuse(op, _errors.Overloaded(op));
            return;
        }
        if (room) _send.AskEnd(owner, new(op.Id, op.Attempt, op.Payload), owner);
        // That member may stall: all waiting operations together ask it no more often than a few of them would.
        op.RetryAt = _state.Node.Now + (op.IsParked ? AskAgain * (1 + (_open.Parked.Count / FewAsk)) : AskAgain);
        op.Asks = true;
    }

    /// <summary>Another member asks how a put of this session ended.</summary>
    public void OnAskEnd(int from, in AttemptId key)
    {
        var status = Puts.WasGiven(key.Id) ? EndStatus.Forgotten : EndStatus.NeverGiven;
        bool known = _known.TryGet(key.Id, out var end), same = known && PutPayload.SamePairs(end.Payload, key.Payload), pending = _pending.TryGetValue(key.Id, out var op) && op.Kind.Changes;
        if (known && end.Executed) status = same ? EndStatus.Executed : EndStatus.OtherPairs;
        // A remembered end that is no execution counts less than a put under way: that may be the one executed instead, or a retry after refused attempts.
        else if (pending && PutPayload.SamePairs(op!.Payload, key.Payload)) status = EndStatus.UnderWay;
        else if (same) status = end.Status;
        // Another retry with other pairs says nothing: the put asked for may be the one that was executed.
        else if (pending && op!.Requested is null) status = EndStatus.OtherPairs;
        _send.End(from, key, _state.Rank, status, status == EndStatus.Executed && end!.Payload == key.Payload ? end : null);
    }

    /// <summary>
    /// The retry that waits for such an answer from <paramref name="from"/>. The answer is about the put, so it may belong to any of the retry's
    /// questions: it may arrive after the next question was sent.
    /// </summary>
    public bool TryAsking(int from, in AttemptId key, [NotNullWhen(true)] out ClientOperation? op) =>
        _pending.TryGetValue(key.Id, out op) && op.IsInFlight && op.Asks && op.Payload == key.Payload
        && _state.OwnerOf(key.Id.Session) == from;

    /// <summary>The answer to the question how the put ended. Its results, if any, are in the parts.</summary>
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
                Finish(op, CallFailures.NeverGiven(op.Id));
                break;
            case EndStatus.Forgotten:
                Finish(op, _errors.About(op, new OutcomeForgottenException(op.Id, "The member that issued the put no longer has its outcome, or took its id too long ago.")));
                break;
            case EndStatus.Executed:
                op.WithoutResult = !results;
                Finish(op, null);
                break;
            case EndStatus.OtherPairs:
                Finish(op, _errors.About(op, new OperationIdReusedException(op.Id)));
                break;
            case EndStatus.Misplaced:
                // Replicas have said that they forgot the put: so there may have been another attempt.
                Finish(op, _errors.About(op, new OutcomeForgottenException(op.Id, CallFailures.OnlyMisplaced)));
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
}
