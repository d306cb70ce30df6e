using GroupCore.Runtime;

namespace GroupCore.Groups.Views;

/// <summary>
/// Joining in bounded time. A join may go on as long as it makes progress: without a limit on the whole, a state of any size can be loaded. A join without progress for
/// <see cref="GroupHostOptions.JoinTimeout"/> ends, and says what it waited for.
/// </summary>
internal sealed partial class GroupProtocol
{
    private TimerHandle _joinTimer;

    private long JoinNanoseconds => (long)_host.Options.JoinTimeout.TotalNanoseconds;

    /// <summary>The membership was asked.</summary>
    public void BeginJoin()
    {
        // Not the turn's time: the process may have been frozen between the start of the turn and the call.
        Joining.Begin(Node.Clock());
        Watch.OnJoining();
        _joinTimer = Node.SetTimer(Joining.At + JoinNanoseconds, this, JoinTimeout);
    }

    /// <summary>The join has succeeded or failed: ends its timer, which would keep all of this in memory for up to a day. From here on the handlers get events.</summary>
    private void EndJoin()
    {
        Node.CancelTimer(_joinTimer);
        _handled = (Dispatcher.Position, Node.Now);
    }

    /// <summary>Whether the load of this member, or its catching up after it, has made progress since the last call.</summary>
    public bool LoadMoved() => Joining.HasMoved(_life.Phase == GroupPhase.Loading);

    private void LookAtJoin()
    {
        if (_life.Phase is not (GroupPhase.Joining or GroupPhase.Loading)) return;
        // A sign of the giver counts until the next one is due: nothing tells of progress in between.
        long due = Joining.At + JoinNanoseconds + (_life.Phase == GroupPhase.Loading ? GroupLimits.StateSignNanoseconds : 0);
        if (Node.Now < due)
        {
            _joinTimer = Node.SetTimer(due, this, JoinTimeout);
            return;
        }
        string waitsFor = IsWedged && WaitsFor is { Count: > 0 } members ? $"a view change, which waits for {string.Join(", ", members)}" : Joining.WaitsFor;
        Withdraw(new JoinTimeoutException(Name, _host.Options.JoinTimeout, waitsFor), failed: true);
    }

    /// <summary>The caller of the join does not wait any more: the join is undone. A member that has the state leaves in bounded time, since no caller has the group.</summary>
    public void AbandonJoin()
    {
        Touch();
        if (_life.Phase is GroupPhase.Joining or GroupPhase.Loading) Withdraw(new NotMemberException(Name, "its join was cancelled"), failed: true, wanted: true);
        else LeaveSoon();
    }

    /// <summary>The join cannot succeed: this member leaves again, and its caller hears why.</summary>
    public void FailJoin(string reason)
    {
        Touch();
        Withdraw(new JoinRefusedException(Name, reason), failed: true);
    }

    /// <summary>The giver of the checkpoint is silent: asks for another view, which brings another checkpoint.</summary>
    public void Requeue()
    {
        Touch();
        // If no other view comes, the join timeout bounds the wait.
        if (Joining.OnSilence(View!.Id) >= 3) FailJoin("the giver was silent in three views, so no checkpoint arrived");
        else Membership.RequestView(View.Group);
    }

    /// <summary>The group to be joined is over: there will be another one of that name.</summary>
    public void AskAgain()
    {
        Id = null;
        _early.Clear();
        Joining.OnWaits("the membership service's answer");
    }

    /// <summary>Takes the place of a join that was given up before it was in a view.</summary>
    public void TakeOver(GroupProtocol abandoned)
    {
        abandoned._life.Become(GroupPhase.Over);
        abandoned.EndJoin();
        abandoned.Touch();
        abandoned.Dispatcher.Close();
        if (abandoned.Id is not { } id) return;
        Id = id;
        Joining.OnProgress("a view of the group");
        TakeEarly(abandoned._early, abandoned._early.Take(static _ => true));
    }
}
