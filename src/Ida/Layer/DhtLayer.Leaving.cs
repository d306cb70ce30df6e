using GroupCore.Runtime;

namespace Ida;

/// <summary>
/// Leaving: a member keeps serving until another member has the state of its shard, in bounded time. Source: dht-view-change.md#a-leaver-stays-as-the-source.
/// </summary>
/// <remarks>
/// The leaver asks for a view and says in its contribution that it leaves. At that view change all members decide alike: its slot is free at once
/// (another initialised member stays in the shard, or no member can take its place), or it stays as the source of a successor, which gets a slot at
/// the same view change. When the successor is initialised, the leaver asks for the next view, in which its slot is free. A successor that dies is
/// replaced by the same rule. After <see cref="DhtMemberOptions.HandoverTimeout"/> the leaver goes as it is, but not before, even if it is
/// blocked: meanwhile perhaps no member can be excluded, and its copy is needed when contact is back.
/// </remarks>
internal sealed partial class DhtLayer
{
    private bool _groupLeaves;
    private TimerHandle _leaveLimit;

    /// <summary>Whether this member was asked to leave.</summary>
    public bool IsLeaving { get; private set; }

    /// <summary>Begins to leave the DHT, and with <paramref name="group"/> the group as well. True when nothing is left to do here.</summary>
    public bool BeginLeaving(bool group)
    {
        if (IsOver) return true;
        _groupLeaves |= group;
        long patience = (long)_state.Own.HandoverTimeout.TotalNanoseconds;
        if (!IsLeaving && (_state.Map is null || patience == 0)) LeaveAsItIs();
        if (IsOver || IsLeaving) return IsOver;
        IsLeaving = true;
        // The turn may have begun before a freeze of the process.
        _leaveLimit = Node.SetTimer(Node.Clock() + patience, this, LeaveLimit);
        _state.Port.RequestView();
        return false;
    }

    /// <summary>A newcomer has become initialised: it may be the successor for which this member waits.</summary>
    private void OnSuccessor(int rank)
    {
        if (IsLeaving && !IsOver && _state.Map!.ShardOfSlot(_state.Map.SlotOfRank(rank)) == _state.Shard) _state.Port.RequestView();
    }

    private void LeaveAsItIs()
    {
        EndWith(Closed());
        _state.Port.RequestView();
    }

    private static NotDhtMemberException Closed() => new("The DHT was closed at this member.");
}
