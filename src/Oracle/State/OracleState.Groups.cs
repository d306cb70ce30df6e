using GroupCore.Membership;
using Oracle.State.Operations;

namespace Oracle.State;

internal sealed partial class OracleState
{
    private const string AllLeft = "the group is over: its last members have left";
    private static readonly string s_full = $"the groups take {Limits.StateBytes >> 20} MiB of the membership service's state; that is the limit";
    private const string StateLost = "the group's state is lost: no member that held it survives";

    private OperationResult AddJoiner(ProcessRecord process, Join join)
    {
        if (process.Status != ProcessStatus.Alive) return OperationResult.Refused("the process is leaving");
        if (join.Name.Length == 0) return OperationResult.Refused("a group needs a name");
        if (process.Groups.Count >= Limits.GroupsPerProcess) return OperationResult.Refused($"a process may be in {Limits.GroupsPerProcess} groups at most");
        if (!_byName.TryGetValue(join.Name, out var group))
        {
            if (_groups.Count + _lost.Count >= Limits.Groups) return OperationResult.Refused($"there are {Limits.Groups} groups; that is the limit");
            if (Bytes + Sizes.Group(join.Name, Sizes.Place(process.Id, process.Address, join.Tag)) > most) return OperationResult.Refused(s_full);
            return OperationResult.Joined(Found(join.Name, join.Options, join.Acceptors, [new(process.Id, process.Address, true, join.Tag)]).Id);
        }
        if (group.Options != join.Options)
            return OperationResult.Refused($"group {join.Name} has the options {group.Options}, the join names {join.Options}");
        if (group.Leavers.Contains(process.Id)) return OperationResult.Refused($"the process is still leaving group {join.Name}");
        if (group.View.RankOf(process.Id) >= 0 || group.QueueIndexOf(process.Id) >= 0) return OperationResult.Joined(group.Id);
        if (group.View.Members.Count + group.Queue.Count >= Limits.GroupMembers)
            return OperationResult.Refused($"group {join.Name} has {Limits.GroupMembers} members; that is the limit");
        int place = Sizes.Place(process.Id, process.Address, join.Tag);
        group.QueueBytes += place;
        if (Bytes + group.Bytes - group.Counted > most)
        {
            group.QueueBytes -= place;
            return OperationResult.Refused(s_full);
        }
        group.Queue.Add(new(process.Id, join.Tag));
        Count(group);
        process.Groups.Add(group.Id);
        Request(group, Rebuild.WhenIdle);
        return OperationResult.Joined(group.Id);
    }

    private OperationResult Create(Create create)
    {
        if (create.Name.Length == 0) return OperationResult.Refused("a group needs a name");
        if (_byName.ContainsKey(create.Name)) return OperationResult.Refused($"there is a group {create.Name} already");
        if (_groups.Count + _lost.Count >= Limits.Groups) return OperationResult.Refused($"there are {Limits.Groups} groups; that is the limit");
        if (create.Members.Count == 0) return OperationResult.Refused("a group needs a member");
        var members = new List<ViewMember>(create.Members.Count);
        var seen = new HashSet<ProcessId>();
        foreach (var id in create.Members)
        {
            if (Find(id) is not { Status: ProcessStatus.Alive } process) return OperationResult.Refused($"process {id} is not registered");
            if (!seen.Add(id)) return OperationResult.Refused($"process {id} is named twice");
            if (process.Groups.Count >= Limits.GroupsPerProcess) return OperationResult.Refused($"process {id} is in {Limits.GroupsPerProcess} groups; that is the limit");
            members.Add(new(id, process.Address, true, process.Tag));
        }
        if (Bytes + Sizes.Group(create.Name, members.Sum(static member => Sizes.Place(member.Id, member.Address, member.Tag))) > most) return OperationResult.Refused(s_full);
        return OperationResult.Joined(Found(create.Name, create.Options, create.Acceptors, members).Id);
    }

    /// <summary>View 1 of a group: all its members hold the (empty) state.</summary>
    private GroupRecord Found(string name, GroupOptions options, int acceptors, List<ViewMember> members)
    {
        var id = new GroupId(++_lastGroup, (uint)_index);
        var view = new View(id, name, 1, _index, options, members, members.ConvertAll(member => member.Id), [], [], []);
        var group = new GroupRecord(id, name, options, acceptors, view);
        _groups.Add(id, group);
        _byName.Add(name, group);
        Count(group);
        foreach (var member in members) Find(member.Id)!.Groups.Add(id);
        events.OnInstalled(group, []);
        return group;
    }

    private OperationResult AddLeaver(ProcessRecord process, GroupId id)
    {
        if (Find(id) is not { } group) return OperationResult.Completed;
        bool member = group.View.RankOf(process.Id) >= 0;
        bool coming = group.Pending is { } pending && pending.Proposal.Joiners.Any(joiner => joiner.Id == process.Id);
        if (member || coming)
        {
            group.Leavers.Add(process.Id);
            Request(group, Rebuild.WhenIdle);
            return OperationResult.Completed;
        }
        if (group.QueueIndexOf(process.Id) is >= 0 and int place)
        {
            TakeFromQueue(group, place);
            process.Groups.Remove(id);
        }
        return OperationResult.Left(id);
    }

    private OperationResult Renew(ProcessRecord process, Renew renew)
    {
        if (Find(renew.Group) is not { } group || group.View.Id != renew.View || group.View.RankOf(process.Id) < 0) return OperationResult.Completed;
        Request(group, Rebuild.WhenIdle | Rebuild.Same);
        return OperationResult.Completed;
    }

    private OperationResult CompleteView(ProcessRecord process, ViewCompletion completion)
    {
        if (Find(completion.Group) is not { Pending: { } pending } group || group.View.Id != completion.View || !pending.IsLedBy(process.Id, group.View)) return OperationResult.Completed;
        if (pending.Number != completion.Proposal && rules.A3PendingProposalOnly) return OperationResult.Completed;
        // An exclusion earlier in this very entry supersedes the proposal that is still noted as pending.
        if (_rebuild.GetValueOrDefault(group.Id).HasFlag(Rebuild.Supersede)) return OperationResult.Completed;
        Install(group, pending, completion.Initialised);
        return OperationResult.Completed;
    }

    private void Install(GroupRecord group, PendingProposal pending, IReadOnlyList<ProcessId> initialised)
    {
        View old = group.View;
        var proposal = pending.Proposal;
        var survivors = new HashSet<ProcessId>(proposal.Survivors);
        var holders = new HashSet<ProcessId>(initialised);
        var joined = proposal.Joiners.Select(joiner => joiner.Id).ToList();
        var ranks = Ranks.Compose(old.Members.Select(member => member.Id).ToList(), survivors.Contains, joined, group.Options.Composition);
        var comers = proposal.Joiners.ToDictionary(joiner => joiner.Id);
        var members = new List<ViewMember>(ranks.Count);
        var moved = new List<Move>();
        bool held = false;
        for (int rank = 0; rank < ranks.Count; rank++)
        {
            ProcessId id = ranks[rank];
            int before = old.RankOf(id);
            bool holds = before >= 0 && holders.Contains(id);
            held |= holds;
            members.Add(before >= 0 ? old.Members[before] with { Initialised = holds } : comers[id]);
            if (before >= 0 && before != rank) moved.Add(new(id, before, rank));
        }
        // A view without members is the group's last one: all members of the view before it left, after a flush among themselves.
        if (!held && ranks.Count > 0)
        {
            End(group, StateLost);
            return;
        }
        var view = new View(group.Id, group.Name, old.Id + 1, proposal.Number, group.Options, members, joined, proposal.Leavers, pending.Failed, moved);
        (group.View, group.Pending) = (view, null);
        group.Installs.Add(view);
        group.InstallBytes.Add(Sizes.Of(view));
        if (group.Installs.Count > Limits.InstallsKept)
        {
            group.Installs.RemoveAt(0);
            group.InstallBytes.RemoveAt(0);
        }
        foreach (var request in group.Queue)
            if (comers.ContainsKey(request.Process)) group.QueueBytes -= PlaceOf(request);
        group.Queue.RemoveAll(request => comers.ContainsKey(request.Process));
        Count(group);
        var goers = new List<ViewMember>();
        foreach (var member in old.Members)
        {
            if (view.RankOf(member.Id) >= 0) continue;
            group.Leavers.Remove(member.Id);
            group.Stalled.Remove(member.Id);
            if (Find(member.Id) is not { } process) continue;
            if (process.Alive) goers.Add(member);
            process.Groups.Remove(group.Id);
            Forget(process);
        }
        if (ranks.Count > 0 && (group.Queue.Count > 0 || group.Leavers.Count > 0)) Request(group, Rebuild.WhenIdle);
        events.OnInstalled(group, goers);
        // For a process that asked to join after the last proposal, no member is left that has the state.
        if (ranks.Count == 0) End(group, AllLeft);
    }

    private void Build(GroupRecord group, bool same)
    {
        var (survivors, leavers, failed) = (new List<ProcessId>(), new List<ProcessId>(), new List<ProcessId>());
        foreach (var member in group.View.Members)
        {
            if (!IsAlive(member.Id)) failed.Add(member.Id);
            else if (group.Leavers.Contains(member.Id)) leavers.Add(member.Id);
            else survivors.Add(member.Id);
        }
        if (survivors.Count + leavers.Count == 0)
        {
            // No member was left to flush, so nothing has waited for the leases of the members that are gone.
            failed.RemoveAll(id => Find(id) is { Proved: true });
            if (group.Options.StrictPrimary && failed.Count > 0) Add(new LostGroup(group.Id, group.Name, failed, failed.Max(id => Find(id)!.Lease)));
            End(group, StateLost);
            return;
        }
        bool unchanged = survivors.Count == group.View.Members.Count && group.Queue.Count == 0 && !same;
        if (unchanged && (group.Pending is null || !rules.A4NeverWithdraw))
        {
            group.Pending = null;
            return;
        }
        var joiners = group.Queue.ConvertAll(request => new ViewMember(request.Process, Find(request.Process)!.Address, false, request.Tag));
        group.Pending = new(new(group.Id, _index, group.View.Id, survivors, leavers, joiners), failed);
        events.OnProposed(group);
    }

    private void End(GroupRecord group, string reason)
    {
        var concerned = new List<ProcessId>();
        foreach (var member in group.View.Members) concerned.Add(member.Id);
        foreach (var request in group.Queue) concerned.Add(request.Process);
        _groups.Remove(group.Id);
        _byName.Remove(group.Name);
        Bytes -= group.Counted;
        foreach (var id in concerned)
        {
            if (Find(id) is not { } process) continue;
            process.Groups.Remove(group.Id);
            Forget(process);
        }
        if (concerned.Count > 0) events.OnOver(group, reason, concerned);
    }
}
