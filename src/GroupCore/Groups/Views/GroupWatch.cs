using GroupCore.Diagnostics;
using GroupCore.Membership;

namespace GroupCore.Groups.Views;

/// <summary>
/// What one membership tells the log: steps of its life as they happen, and what a look once a second finds to last too long. A look finds a handler that hangs by the
/// position of the handlers: nothing is measured for each event. Handlers that run inside turns are not seen here; they make slow turns.
/// </summary>
internal sealed class GroupWatch(GroupProtocol group)
{
    private const long Second = 1_000_000_000;

    /// <summary>Nanoseconds after which a handler, and a view change, is slow.</summary>
    public const long SlowHandler = 2 * Second, SlowFlush = 2 * Second;
    private const long SlowJoin = 10 * Second, SlowAgain = 30 * Second;
    private const int MostNames = 8;
    private readonly NodeLog _log = group.Node.Log;
    private Episode _refusals;
    private long _refused;
    private long _errors;
    private UntoldErrors? _untold;
    private long? _flushBegan;
    private long _flushTold;
    private long _joinBegan;
    private long _joinTold;
    // The handler that the last look found at work, and its position; the looks at which it was first and last seen.
    private string? _handler;
    private long _position, _since, _seen;
    private bool _slowTold;

    /// <summary>Calls that were refused because too many waited. From any thread.</summary>
    public long Refused => Volatile.Read(ref _refused);

    /// <summary>Errors in user code, and messages that no handler takes. From any thread.</summary>
    public long Errors => Volatile.Read(ref _errors);

    /// <summary>A call is refused. From any thread.</summary>
    public void OnRefused() => Interlocked.Increment(ref _refused);

    /// <summary>
    /// User code threw, or no handler takes a message. From any thread: the next look tells of the first. A slow member and a member with another layer are no errors of user code.
    /// </summary>
    public void OnError(GroupError error)
    {
        if (error.Exception is SlowMemberException or LayerMismatchException) return;
        Interlocked.Increment(ref _errors);
        if (!_log.IsOn) return;
        UntoldErrors? seen;
        UntoldErrors next;
        do
        {
            seen = Volatile.Read(ref _untold);
            next = seen is null ? new(error.Handler, error.Exception, 1) : seen with { Count = seen.Count + 1 };
        }
        while (!ReferenceEquals(Interlocked.CompareExchange(ref _untold, next, seen), seen));
    }

    public void OnJoining()
    {
        _joinBegan = _joinTold = group.Node.Now;
        _log.Joining(group.Name);
    }

    public void OnFlush(Proposal proposal)
    {
        _flushBegan ??= _flushTold = group.Node.Now;
        _log.FlushBegun(group.Name, group.View!.Id, proposal.Number, proposal.Survivors.Count, proposal.Leavers.Count, proposal.Joiners.Count);
    }

    /// <summary>The view has ended for this member.</summary>
    public void OnViewEnded(View view)
    {
        if (_flushBegan is { } began) _log.FlushEnded(group.Name, view.Id, (group.Node.Now - began) / 1_000_000);
        _flushBegan = null;
    }

    public void OnView(View view, int rank, View? before)
    {
        if (!_log.IsOn) return;
        _log.ViewInstalled(group.Name, view.Id, view.Members.Count, rank, Names(view.Joined, view), Names(view.Left, before), Names(view.Failed, before));
        if (group.Phase == GroupPhase.Loading) _log.StateAwaited(group.Name, view.Id);
    }

    public void OnState(long bytes, long took) => _log.StateLoaded(group.Name, bytes, took / 1_000_000);

    public void OnSlow(ViewMember member, string why)
    {
        if (_log.IsOn) _log.MemberSlow(group.Name, member.Address.ToString(), why);
    }

    public void OnOver(Exception reason, bool failed)
    {
        if (failed) _log.GroupLost(group.Name, reason.Message);
        else _log.GroupLeft(group.Name, reason.Message);
    }

    /// <summary>Once a second, inside a turn, if there is a logger.</summary>
    public void Look(long now)
    {
        LookAtCalls(now);
        LookAtErrors();
        LookAtHandlers(now);
        if (_flushBegan is { } began && now - began >= SlowFlush && (_flushTold == began || now - _flushTold >= SlowAgain))
        {
            _flushTold = now;
            _log.FlushSlow(group.Name, group.View!.Id, (now - began) / Second, Reasons());
        }
        if (group.Phase is not (GroupPhase.Joining or GroupPhase.Loading) || now - _joinBegan < SlowJoin) return;
        if (_joinTold != _joinBegan && now - _joinTold < SlowAgain) return;
        _joinTold = now;
        _log.JoinWaits(group.Name, (now - _joinBegan) / Second, group.Joining.WaitsFor);
    }

    private void LookAtCalls(long now)
    {
        int change = _refusals.Look(Refused, now);
        if (change > 0) _log.CallsRefused(group.Name, group.Calls.Budget.Calls, group.Calls.Budget.Bytes);
        else if (change < 0) _log.CallsAccepted(group.Name, _refusals.Cases);
    }

    /// <summary>Logs the errors since the last look. Also called when the node ends, as no look follows.</summary>
    public void LookAtErrors()
    {
        if (Interlocked.Exchange(ref _untold, null) is { } errors) _log.UserCodeFailed(errors.Exception, group.Name, errors.Count, errors.Handler);
    }

    /// <summary>Once a second, when the membership is over: what its handlers still do. False when they have nothing more to do, and nothing more will be told.</summary>
    public bool LookAtEnded(long now)
    {
        bool atWork = group.Dispatcher.Waiting > 0 || group.Upcalls.Running is not null;
        LookAtErrors();
        LookAtHandlers(now);
        return atWork;
    }

    // A handler is known from the look that first finds it at work, and until the last one that does: it took that long, or up to two looks longer.
    private void LookAtHandlers(long now)
    {
        var (position, handler) = (group.Dispatcher.Position, group.Upcalls.Running);
        if (_handler is not null && (handler is null || position != _position))
        {
            if (_slowTold) _log.HandlerEnded(group.Name, _handler, (_seen - _since) / Second);
            (_handler, _slowTold) = (null, false);
        }
        if (handler is null) return;
        if (_handler is null) (_handler, _position, _since) = (handler, position, now);
        _seen = now;
        if (_slowTold || now - _since < SlowHandler) return;
        _slowTold = true;
        _log.HandlerSlow(group.Name, handler, (now - _since) / Second, Math.Max(0, group.Dispatcher.Waiting - 1));
    }

    private string Reasons() => group.WaitsFor is { Count: > 0 } reasons ? string.Join(", ", reasons.Take(MostNames)) : "something that this member does not know yet";

    private static string Names(IReadOnlyList<ProcessId> members, View? view)
    {
        if (members.Count == 0) return "none";
        var names = members.Take(MostNames).Select(id => view?.RankOf(id) is >= 0 and var rank ? view.Members[rank].Address.ToString() : id.ToString());
        return string.Join(", ", names) + (members.Count > MostNames ? $" and {members.Count - MostNames} more" : "");
    }

    // The first of them, and how many there are.
    private sealed record UntoldErrors(string Handler, Exception? Exception, long Count);
}
