using System.Buffers.Binary;
using System.Text;
using GroupCore.Groups.State;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.Views;

/// <summary>
/// Joining in bounded time. Progress keeps a join going, without a limit on the whole, so that a state of any size can be loaded; a join without progress for
/// <see cref="GroupHostOptions.JoinTimeout"/> ends, and says what it waited for.
/// </summary>
internal sealed partial class GroupProtocol
{
    private const int SignHead = 9;
    private const int SignTextBytes = 1_024;
    private long _joinProgressAt;
    private string _joinWaitsFor = "the membership service's answer";
    private StateCut? _saving;
    private int _silentGivers;
    private ulong _silentIn;
    private long _giverHandled = -1;
    private TimerHandle _joinTimer;
    private (long MovedAt, long Handled) _signed;
    // How far the state ever came within one view, the longest time for which it made progress within one, and when one of these was surpassed last.
    private (StatePhase Phase, long Amount, long Took, long At) _furthest = (default, 0, -1, 0);
    private long _stateMovedAt;

    /// <summary>The membership was asked.</summary>
    public void BeginJoin()
    {
        // Not the turn's time: the process may have been frozen between the start of the turn and the call.
        _joinProgressAt = Node.Clock();
        _joinTimer = Node.SetTimer(_joinProgressAt + _host.JoinNanoseconds, this, JoinTimeout);
    }

    /// <summary>The join has succeeded or failed: ends its timer, which would keep all of this in memory for up to a day. From here on the handlers get events.</summary>
    private void EndJoin()
    {
        Node.CancelTimer(_joinTimer);
        _handled = (Dispatcher.Position, Node.Now);
    }

    /// <summary>The join made progress; next it waits for <paramref name="waitsFor"/>.</summary>
    public void OnJoinProgress(string waitsFor) => (_joinProgressAt, _joinWaitsFor) = (Node.Now, waitsFor);

    /// <summary>
    /// The state made progress in a view that began at <paramref name="begun"/>: to a later phase, or within its phase by time or bytes. With each view all of it begins again,
    /// and views may come faster than the state. Work that begins again is progress for as long as it took before, and after that only in a view that lasts longer than all before.
    /// </summary>
    public void OnStateProgress(StatePhase phase, long amount, long begun, string waitsFor)
    {
        _stateMovedAt = Node.Now;
        bool further = phase > _furthest.Phase || (phase == _furthest.Phase && amount > _furthest.Amount);
        if (further) (_furthest.Phase, _furthest.Amount) = (phase, amount);
        if (further || Node.Now - begun > _furthest.Took) (_furthest.Took, _furthest.At) = (Math.Max(_furthest.Took, Node.Now - begun), Node.Now);
        else if (Node.Now - _furthest.At > _furthest.Took)
        {
            OnJoinWaits($"{waitsFor}, which begins again with each view");
            return;
        }
        OnJoinProgress(waitsFor);
    }

    /// <summary>A piece of the state has arrived: the giver is not silent.</summary>
    public void OnPiece() => _silentGivers = 0;

    /// <summary>The giver's handlers have not reached the state. It is progress if they have gone on; a view that comes meanwhile is none.</summary>
    public void OnStateQueued(string giver, long handled, long begun)
    {
        if (handled != _giverHandled) OnStateProgress(StatePhase.Queued, Node.Now - begun, begun, $"the state that {giver} saves");
        else OnJoinWaits($"a handler at {giver}, which gives the state");
        _giverHandled = handled;
    }

    /// <summary>What the join waits for, when that is nothing that counts as progress.</summary>
    public void OnJoinWaits(string waitsFor) => _joinWaitsFor = waitsFor;

    /// <summary>Whether the load of this member, or its catching up after it, has made progress since the last call.</summary>
    public bool LoadMoved()
    {
        var now = _life.Phase == GroupPhase.Loading ? (Math.Max(_stateMovedAt, _joinProgressAt), 0L) : Dispatcher.IsCatchingUp ? (0L, Dispatcher.Position) : default;
        if (now == default || now == _signed) return false;
        _signed = now;
        return true;
    }

    private void LookAtJoin()
    {
        if (_life.Phase is not (GroupPhase.Joining or GroupPhase.Loading)) return;
        // A sign of the giver counts until the next one is due: nobody tells what makes progress in between.
        long due = _joinProgressAt + _host.JoinNanoseconds + (_life.Phase == GroupPhase.Loading ? GroupLimits.StateSignNanoseconds : 0);
        if (Node.Now < due)
        {
            _joinTimer = Node.SetTimer(due, this, JoinTimeout);
            return;
        }
        string waitsFor = IsWedged && WaitsFor is { Count: > 0 } members ? $"a view change, which waits for {string.Join(", ", members)}" : _joinWaitsFor;
        Withdraw(new JoinTimeoutException(Name, _host.Options.JoinTimeout, waitsFor), failed: true);
    }

    /// <summary>The caller of the join does not wait any more: the join is undone. A member that has the state leaves in bounded time, since no caller has the group.</summary>
    public void AbandonJoin()
    {
        Touch();
        if (_life.Phase is GroupPhase.Joining or GroupPhase.Loading) Withdraw(new NotMemberException(Name, "its join was cancelled"), failed: true);
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
        // Counted once for each view: where none comes, the join timeout bounds the wait.
        if (View!.Id != _silentIn) _silentGivers++;
        _silentIn = View.Id;
        if (_silentGivers >= 3) FailJoin("the giver was silent in three views, so no checkpoint arrived");
        else Membership.RequestView(View.Group);
    }

    /// <summary>The group to be joined is over: there will be another one of that name.</summary>
    public void AskAgain()
    {
        Id = null;
        _early.Clear();
        OnJoinWaits("the membership service's answer");
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
        OnJoinProgress("a view of the group");
        TakeEarly(abandoned._early, abandoned._early.Take(static _ => true));
    }

    /// <summary>From now on the joiners of this view hear every second that their giver is alive, and how far it is.</summary>
    private void SignalWhile(StateCut cut)
    {
        _saving = cut;
        SetSignTimer(cut.View);
    }

    private void SetSignTimer(View view) => Node.SetTimer(Node.Now + GroupLimits.StateSignNanoseconds, this, StateSign | ((long)view.Id << 8));

    private void LookAtSave()
    {
        if (_saving is not { } cut || IsWedged) return;
        Writing.GiveUpQuietCuts(cut);
        if (cut.Error is null) TellJoiners();
        else SendState(cut);
    }

    /// <summary>StateSign: <see cref="StatePhase"/> u8, events handled u64, reason of a failure in UTF-8.</summary>
    private void TellJoiners()
    {
        if (_saving is not { } cut || !ReferenceEquals(cut.View, View) || IsWedged) return;
        // Read once: the worker may fail meanwhile, and a failure is told once and with its text. Standing in line is part of the saving, and bounded like it.
        var phase = cut.Phase == StatePhase.Queued && cut.IsInLine ? StatePhase.Saving : cut.Phase;
        byte[] text = phase == StatePhase.Failed ? Encoding.UTF8.GetBytes(Shortened(cut.ErrorText)) : [];
        for (int rank = 0; rank < View.Members.Count; rank++)
        {
            if (View.Members[rank].Initialised || rank == Rank) continue;
            var frame = Frame(FrameType.StateSign, SignHead + text.Length);
            frame[0] = (byte)phase;
            BinaryPrimitives.WriteInt64LittleEndian(frame[1..], Dispatcher.Position);
            text.CopyTo(frame[SignHead..]);
            SendTo(rank);
        }
        if (phase != StatePhase.Failed) SetSignTimer(View);
    }

    private static string Shortened(string text) => text.Length <= SignTextBytes / 3 ? text : text[..(SignTextBytes / 3)];
}
