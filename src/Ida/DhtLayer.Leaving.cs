using GroupCore.Runtime;

namespace Ida;

/// <summary>
/// Taking leave: a member keeps serving until another one has the state of its shard, in bounded time. Source: dht-view-change.md#a-leaver-stays-as-the-source.
/// </summary>
/// <remarks>
/// It asks for a view and says at its boundary that it goes. There all conclude alike whether its slot is free at once (another full
/// member stays in the shard, or nobody is left to take its place), or whether it stays as the source of a successor, which is placed at
/// the same boundary. When the successor is full the leaver asks for the next view, in which its slot is free. A successor that dies is
/// replaced by the same rule. After <see cref="DhtOptions.HandoverTimeout"/> it goes as it is: not before, also where it is blocked, since it
/// may be that nobody can be excluded meanwhile and that its copy is needed when contact is back.
/// </remarks>
internal sealed partial class DhtLayer
{
    private bool _groupLeaves;
    private TimerHandle _leaveLimit;

    /// <summary>Whether this member was asked to go.</summary>
    public bool IsLeaving { get; private set; }

    /// <summary>Begins to leave, the DHT alone or with it the <paramref name="group"/>. True when nothing is left to do here.</summary>
    public bool Leave(bool group)
    {
        if (IsOver) return true;
        _groupLeaves |= group;
        long patience = (long)_state.Options.HandoverTimeout.TotalNanoseconds;
        if (!IsLeaving && (_state.Map is null || patience == 0)) LeaveAsItIs();
        if (IsOver || IsLeaving) return IsOver;
        IsLeaving = true;
        // The turn may have begun before a freeze of the process.
        _leaveLimit = Node.SetTimer(Node.Clock() + patience, this, LeaveLimit);
        _state.Port.RequestView();
        return false;
    }

    /// <summary>A newcomer has become full: it may be the one this member waits for.</summary>
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
