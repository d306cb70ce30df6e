using Ida.Ordering;

namespace Ida.Coordination;

/// <summary>Calls that name an earlier put whose outcome their caller does not know.</summary>
internal sealed partial class Coordinator
{
    private const int ResolvedKept = 256;
    private readonly Dictionary<OpId, Outcome> _resolved = [];
    private readonly Queue<OpId> _resolvedOrder = new();
    private readonly List<ClientOp> _requestedHere = [];

    /// <summary>Whether a retry has to be sent; where the outcome is known or under way here it does not.</summary>
    private bool MayBegin(ClientOp op, OpId requested)
    {
        op.Id = requested;
        if (_resolved.TryGetValue(requested, out var known))
        {
            if (known.Payload != op.Payload)
            {
                Finish(op, new OperationIdReusedException(requested));
                return false;
            }
            for (int i = 0; i < op.PartCount; i++) Give(op, i, known.VersionAt(i), known.ErrorAt(i));
            Finish(op, null);
        }
        else if (!_pending.TryGetValue(requested, out var running))
        {
            return true;
        }
        else if (running.Payload != op.Payload)
        {
            Finish(op, new OperationIdReusedException(requested));
        }
        else if (running.Phase == OpPhase.Detached && running.Follower is null && op.Move(OpPhase.Following))
        {
            (running.Follower, op.Leader) = (op, running);
        }
        else
        {
            Finish(op, new ArgumentException($"Operation {requested} is under way at this member, and another call waits for it.", nameof(op)));
        }
        return false;
    }

    /// <summary>An operation has ended: so has the call that waited for it.</summary>
    private void PassOn(ClientOp op, ClientOp follower, Exception? error)
    {
        follower.WithoutResult = op.WithoutResult;
        for (int i = 0; i < follower.PartCount; i++) Give(follower, i, op.Parts[i].Version, op.Parts[i].Error);
        Finish(follower, error);
    }

    /// <summary>The outcome of a put whose caller was told "unknown" is kept for a while, since the acknowledgement lets replicas forget it.</summary>
    private void Remember(ClientOp op)
    {
        var versions = new ulong[op.PartCount];
        var errors = new string?[op.PartCount];
        for (int i = 0; i < versions.Length; i++) (versions[i], errors[i]) = (op.Parts[i].Version, op.Parts[i].Error);
        if (!_resolved.TryAdd(op.Id, new(op.Id.Sequence, state.View, op.Attempt, op.Requested is not null, op.Payload, new(versions), errors))) return;
        _resolvedOrder.Enqueue(op.Id);
        if (_resolvedOrder.Count > ResolvedKept) _resolved.Remove(_resolvedOrder.Dequeue());
    }

    /// <summary>Outcomes below this number of the own session are not asked for any more.</summary>
    private ulong AckedBelow()
    {
        ulong below = _sequence + 1;
        for (var op = _inFlight.First; op is not null; op = op.Next)
        {
            if (op.Requested is not null) continue;
            below = op.Id.Sequence;
            break;
        }
        foreach (var op in _requestedHere) below = Math.Min(below, op.Id.Sequence);
        foreach (var running in _early) below = Math.Min(below, running.Key.Id.Sequence);
        return below;
    }

    private static void Give(ClientOp op, int part, ulong version, string? error)
    {
        ref var to = ref op.Parts[part];
        (to.HasResult, to.Version, to.Error) = (true, version, error);
    }
}
