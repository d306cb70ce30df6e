using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.Views;

/// <summary>What users can see of a group that makes no progress.</summary>
internal sealed partial class GroupProtocol
{
    private volatile IReadOnlyList<string> _waitsFor = [];
    private long _hooksGivenUp;
    private long _slowMembers;

    /// <summary>The members or the work that the view change waits for, when it takes long.</summary>
    public IReadOnlyList<string> WaitsFor
    {
        get => _waitsFor;
        set => _waitsFor = value;
    }

    public bool EvictsSlow => View!.Options.SlowMember == SlowMember.Evict;

    public long SlowNanoseconds => (long)View!.Options.SlowMemberTimeout.TotalNanoseconds;

    /// <summary>From any thread.</summary>
    public GroupStatus Status => new(Flush?.Proposal is not null, WaitsFor, Dispatcher.Waiting, Upcalls.Running, Volatile.Read(ref _hooksGivenUp), Volatile.Read(ref _slowMembers));

    /// <summary>Calls and bytes that wait to be sent, queries that are open, and window in use: all 0 in a group at rest. Inside of a turn only.</summary>
    internal (long Calls, long Bytes, int Queries, long Window) Backlog =>
        (Calls.Budget.Calls, Calls.Budget.Bytes, Queries.Count, WindowUsed);

    /// <summary>Whether this member loads the group's state, and holds as much of the others' messages as it may. Inside of a turn only.</summary>
    internal bool IsJoinBacklogUsed => View is not null && Multicast.StopsAcks;

    /// <summary>Bytes of frames held for views to come: of members, and of all others. Inside of a turn only.</summary>
    internal (long Members, long Strangers) HeldEarly => (_early.Bytes, _strangers?.Bytes ?? 0);

    /// <summary>Whether others say that they are in a view change that this member has not heard of.</summary>
    public bool IsBehind => Flush.IsBehind;

    public void SuspectForGood(int rank) => Flush.Suspect(rank);

    public void OnLoading(int rank) => Flush.OnLoading(rank);

    /// <summary>Tells the user that a member holds the others up.</summary>
    public void ReportSlow(int rank, string why)
    {
        Count(ref _slowMembers);
        var member = View!.Members[rank];
        Watch.OnSlow(member, why);
        ReportLater(new("slow member", new(rank, member), new SlowMemberException(Name, member.Address.ToString(), why)));
    }

    /// <summary>Tells the error handler outside of the turn: it is user code.</summary>
    public void ReportLater(GroupError error) => Node.Complete(new LateReport(Facade, error));

    private static void Count(ref long counter) => Volatile.Write(ref counter, counter + 1);

    private sealed class LateReport(IGroupFacade facade, GroupError error) : ICompletion
    {
        public void Run() => facade.Notify(error);
    }
}
