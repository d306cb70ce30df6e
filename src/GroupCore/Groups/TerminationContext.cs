using GroupCore.Membership;

namespace GroupCore.Groups;

/// <summary>
/// Lets a termination hook talk to survivors before a view change goes on; the hook then calls <see cref="Done"/>. Each hook of a group has its own context. A hook is
/// called again with a new one when the proposal is superseded, so what it does must be idempotent. Source: views-and-flush.md#a-hook-has-two-seconds-of-each-proposal.
/// </summary>
public sealed class TerminationContext
{
    private readonly IHookPort _group;
    private int _done;

    internal TerminationContext(IHookPort group, Proposal proposal, View view)
    {
        (_group, Proposal, View) = (group, proposal, view);
    }

    /// <summary>The proposal.</summary>
    public Proposal Proposal { get; }

    /// <summary>The view that ends.</summary>
    public View View { get; }

    /// <summary>Members of both views.</summary>
    public IReadOnlyList<ProcessId> Survivors => Proposal.Survivors;

    /// <summary>
    /// Sends to a survivor, by its rank in the view that ends; handled there before any member installs the next view. A survivor that has not loaded the
    /// group's state by then does not handle it, nor anything else of the view that ends: it gets a state from after all that.
    /// A member that leaves with this view change takes part in the view that ends: it sends, is sent to, and its handlers may answer.
    /// </summary>
    /// <exception cref="NotMemberException">The membership is over; <see cref="ExcludedException"/> where the process was excluded.</exception>
    /// <exception cref="SendQueueFullException">As for <see cref="Group.SendToAsync"/>.</exception>
    /// <exception cref="MessageTooLargeException">As for <see cref="Group.SendToAsync"/>.</exception>
    /// <exception cref="HandlerNotRegisteredException">As for <see cref="Group.SendToAsync"/>.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The view has no member with that <paramref name="rank"/>.</exception>
    public ValueTask SendAsync<T>(int rank, string handler, T message) => _group.Send(this, rank, handler, message);

    /// <summary>
    /// Ends the hook: it needs nothing more before the view change goes on. Without this call the view change waits 2 s for this member, then goes on and
    /// tells the error handler; a hook that throws has ended. What a hook sends through this context after its end, or after another proposal, is dropped.
    /// </summary>
    public void Done()
    {
        if (Interlocked.Exchange(ref _done, 1) == 0) _group.End(this);
    }

    /// <summary>Calls <see cref="Done"/> when <paramref name="work"/> ends, on whatever thread that is.</summary>
    internal async Task DoneWith(ValueTask work)
    {
        try
        {
            await work.ConfigureAwait(false);
            Done();
        }
        catch (Exception error)
        {
            Failed(error);
        }
    }

    internal void Failed(Exception error)
    {
        _group.Report(new("view proposed", default, error));
        Done();
    }
}
