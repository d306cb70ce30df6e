using System.Buffers;
using GroupCore.Membership;
using Oracle.Raft;
using Oracle.State.Operations;

namespace Oracle.State;

/// <summary>
/// The replicated state machine: processes, groups, pending proposals and results of requests. Deterministic, without clock: leases,
/// batching and evidence live with the leader.
/// </summary>
/// <remarks>
/// Apply rules (oracle.md#a1-an-exclusion-supersedes, #the-name-of-a-lost-group-waits-for-leases, #a-request-has-one-effect). All operations of an
/// entry are applied first, then one proposal is built for each group that needs one. So the causes in one entry share a view change, and the entry's index names the proposal.
/// <list type="bullet">
/// <item>A1: an exclusion builds a new proposal in every group that has the process as member or joiner; it supersedes the pending one.</item>
/// <item>A2: a join waits in the queue while a proposal is pending.</item>
/// <item>A3: a view completion counts only for the pending proposal of the current view, and from the member that leads the flush.</item>
/// <item>A4: a proposal is superseded, never withdrawn: members are wedged by it and only a view frees them.</item>
/// <item>A5: the last acceptor of a group is excluded only with proof of death.</item>
/// <item>A6: without an initialised survivor the group's state is lost. The flag in the view is as old as the view, and does not show that a joiner has loaded the state since.
/// So as long as members survive, the flush decides by what they report.</item>
/// <item>The name of a lost StrictPrimary group is kept while a member that is not proved dead may hold a lease (<see cref="LostGroup"/>):
/// a process that asks for that name gets no answer, and asks again.</item>
/// </list>
/// The size of the saved state is counted with each change (<see cref="Sizes"/>), alike at each replica and in each restored state. No group is founded or joined if that could
/// make it larger than <paramref name="most"/>.
/// </remarks>
/// <param name="events">Gets the changes.</param>
/// <param name="rules">The rules in force; outside tests, all of them.</param>
/// <param name="most">Size of the state in bytes from which no group is founded or joined any more.</param>
/// <param name="room">Bytes beyond that for kept results; above it, only the oldest request of each process is answered.</param>
internal sealed partial class OracleState(IStateEvents events, OracleRules rules, long most = Limits.StateBytes, long room = Limits.ResultBytes) : IStateMachine
{
    private SortedDictionary<ProcessId, ProcessRecord> _processes = [];
    private Dictionary<ulong, ProcessRecord> _byNode = [];
    private SortedDictionary<GroupId, GroupRecord> _groups = [];
    private Dictionary<string, GroupRecord> _byName = [];
    private SortedDictionary<string, LostGroup> _lost = new(StringComparer.Ordinal);
    private Dictionary<GroupId, string> _lostNames = [];
    private Queue<ulong> _pastOrder = new();
    private HashSet<ulong> _past = [];
    private readonly SortedDictionary<GroupId, Rebuild> _rebuild = [];
    private uint _lastGroup;
    private ulong _index;

    /// <summary>Index of the last entry that changed the process table.</summary>
    public ulong ProcessesVersion { get; private set; }

    /// <summary>Index of the last applied entry.</summary>
    public ulong Index => _index;

    /// <summary>Most bytes that the saved state takes; the same at every replica that applied the same entries.</summary>
    public long Bytes { get; private set; } = Sizes.Empty;

    public IReadOnlyCollection<ProcessRecord> Processes => _processes.Values;

    public IReadOnlyCollection<GroupRecord> Groups => _groups.Values;

    /// <summary>Groups that are over and whose names are not free yet, by name.</summary>
    public IReadOnlyCollection<LostGroup> Lost => _lost.Values;

    /// <summary>The group with this id, if it is over and its name is not free yet.</summary>
    public LostGroup? FindLost(GroupId id) => _lostNames.TryGetValue(id, out string? name) ? _lost[name] : null;

    public ProcessRecord? Find(ProcessId id) => _processes.GetValueOrDefault(id);

    public ProcessRecord? FindNode(ulong node) => _byNode.GetValueOrDefault(node);

    public GroupRecord? Find(GroupId id) => _groups.GetValueOrDefault(id);

    public GroupRecord? FindGroup(string name) => _byName.GetValueOrDefault(name);

    /// <summary>Whether that process is registered and not excluded.</summary>
    public bool IsAlive(ProcessId id) => Find(id) is { Alive: true };

    public void Apply(ulong index, ReadOnlySpan<byte> content)
    {
        var requests = OperationCodec.ReadEntry(content);
        _index = index;
        foreach (var request in requests) Apply(request);
        foreach (var (id, rebuild) in _rebuild)
        {
            if (_groups.TryGetValue(id, out var group) && (group.Pending is null || rebuild.HasFlag(Rebuild.Supersede)))
                Build(group, rebuild.HasFlag(Rebuild.Same));
        }
        _rebuild.Clear();
    }

    private void Apply(Request request)
    {
        if (request.Operation is Register register)
        {
            events.OnAnswered(request, Register(register));
            return;
        }
        if (request.Operation is Exclude exclude)
        {
            Exclude(exclude.Exclusions);
            return;
        }
        if (request.Operation is Release release)
        {
            if (_lostNames.Remove(release.Group, out string? name) && _lost.Remove(name, out var lost)) Bytes -= Sizes.Of(lost);
            return;
        }
        ProcessRecord? requester = Find(request.Requester);
        if (requester is not { Alive: true })
        {
            events.OnAnswered(request, OperationResult.Refused("the process is not registered, or excluded"));
            return;
        }
        if (request.Operation is Operations.ViewCompletion or Operations.Renew)
        {
            // Their content says which view they are for: a repeat has no effect.
            events.OnAnswered(request, Perform(requester, request.Operation));
            return;
        }
        if (request.Operation is Join { Name: var joined } && _lost.ContainsKey(joined) || request.Operation is Create { Name: var created } && _lost.ContainsKey(created))
        {
            events.OnIgnored(request);
            return;
        }
        requester.Floor = Math.Max(requester.Floor, request.Floor);
        while (requester.Results.Count > 0 && requester.Results.GetKeyAtIndex(0) < requester.Floor)
        {
            Bytes -= Sizes.Of(requester.Results.GetValueAtIndex(0));
            requester.Results.RemoveAt(0);
        }
        bool known = requester.Results.TryGetValue(request.Number, out var result);
        // The oldest waiting request always has room: only its answer makes room for later ones. A goodbye needs none.
        bool full = (requester.Results.Count >= Limits.RequestsPerProcess || Bytes > most + room) && request.Operation is not Depart { Goodbye: true };
        if (request.Number < requester.Floor || (!known && full && request.Number != requester.Floor))
        {
            events.OnIgnored(request);
            return;
        }
        if (!known)
        {
            result = Perform(requester, request.Operation);
            if (requester.Alive)
            {
                requester.Results.Add(request.Number, result);
                Bytes += Sizes.Of(result);
            }
        }
        events.OnAnswered(request, result!);
    }

    private OperationResult Perform(ProcessRecord requester, Operation operation)
    {
        switch (operation)
        {
            case Join join: return AddJoiner(requester, join);
            case Create create: return Create(create);
            case Deny deny: return OperationResult.Refused(deny.Reason);
            case Leave leave: return AddLeaver(requester, leave.Group);
            case ViewCompletion completion: return CompleteView(requester, completion);
            case Renew renew: return Renew(requester, renew);
            case Depart { Goodbye: true }:
                Exclude([new(requester.Id, true)]);
                return OperationResult.Completed;
            // A repeat has no effect: the process is leaving all its groups already, and may join none.
            case Depart when requester.Status == ProcessStatus.Leaving: return OperationResult.Completed;
            case Depart:
                ProcessesVersion = _index;
                requester.Status = ProcessStatus.Leaving;
                foreach (var group in requester.Groups.ToArray()) AddLeaver(requester, group);
                return OperationResult.Completed;
            default: return OperationResult.Refused("unknown operation");
        }
    }

    private OperationResult Register(Register register)
    {
        if (_byNode.TryGetValue(register.Node, out var known) && known.Alive) return new(true, "", known.Id, default);
        if (known is not null || _past.Contains(register.Node)) return OperationResult.Refused("this life of the node was excluded");
        if (_processes.Count >= Limits.Processes) return OperationResult.Refused($"{Limits.Processes} processes are registered; that is the limit");
        var process = new ProcessRecord(new(register.Node, _index), register.Address, register.Tag, register.Host, register.Number, register.Start, register.Lease, register.OwnsAddress);
        Add(process);
        ProcessesVersion = _index;
        events.OnRegistered(process);
        return new(true, "", process.Id, default);
    }

    private void Exclude(IReadOnlyList<Exclusion> exclusions)
    {
        var excluded = new SortedSet<ProcessId>();
        foreach (var exclusion in exclusions)
        {
            if (Find(exclusion.Process) is not { } process) continue;
            bool news = exclusion.Proved && !process.Proved;
            process.Proved |= exclusion.Proved;
            if (process.Alive) excluded.Add(process.Id);
            else if (news) events.OnExcluded(process);
        }
        KeepLastAcceptors(excluded);
        foreach (var id in excluded)
        {
            ProcessRecord process = Find(id)!;
            process.Status = ProcessStatus.Excluded;
            foreach (var result in process.Results.Values) Bytes -= Sizes.Of(result);
            process.Results.Clear();
            ProcessesVersion = _index;
        }
        foreach (var id in excluded)
        {
            ProcessRecord process = Find(id)!;
            foreach (var groupId in process.Groups.ToArray()) Drop(process, _groups[groupId]);
            events.OnExcluded(process);
            Forget(process);
        }
    }

    /// <summary>A1 for one group of an excluded process.</summary>
    private void Drop(ProcessRecord process, GroupRecord group)
    {
        bool member = group.View.RankOf(process.Id) >= 0;
        bool coming = group.Pending is { } pending && pending.Proposal.Joiners.Any(joiner => joiner.Id == process.Id);
        int queued = group.QueueIndexOf(process.Id);
        if (queued >= 0) TakeFromQueue(group, queued);
        group.Stalled.Remove(process.Id);
        if (!member)
        {
            process.Groups.Remove(group.Id);
            group.Leavers.Remove(process.Id);
        }
        if (member || coming) Request(group, Rebuild.Supersede);
    }

    /// <summary>A5: removes the last acceptor of each group from the processes to exclude, unless its death is proved.</summary>
    private void KeepLastAcceptors(SortedSet<ProcessId> excluded)
    {
        if (!rules.A5LastAcceptor) return;
        foreach (var id in excluded.ToArray())
        {
            foreach (var groupId in Find(id)!.Groups)
            {
                GroupRecord group = _groups[groupId];
                ProcessId? last = null;
                bool survives = group.Acceptors == 0;
                int counted = 0;
                foreach (var member in group.View.Members)
                {
                    if (counted == group.Acceptors) break;
                    if (!member.Initialised) continue;
                    counted++;
                    if (!excluded.Contains(member.Id)) survives |= IsAlive(member.Id);
                    else if (!Find(member.Id)!.Proved) last = member.Id;
                }
                if (survives || last is not { } candidate) continue;
                excluded.Remove(candidate);
                group.Stalled.Add(candidate);
            }
        }
    }

    /// <summary>Removes the record of an excluded process once no view names it.</summary>
    private void Forget(ProcessRecord process)
    {
        if (process.Alive || process.Groups.Count > 0) return;
        _processes.Remove(process.Id);
        Bytes -= Sizes.Of(process);
        _byNode.Remove(process.Id.Node);
        if (!_past.Add(process.Id.Node)) return;
        _pastOrder.Enqueue(process.Id.Node);
        if (_pastOrder.Count > Limits.PastLives) _past.Remove(_pastOrder.Dequeue());
    }

    private void TakeFromQueue(GroupRecord group, int place)
    {
        group.QueueBytes -= PlaceOf(group.Queue[place]);
        group.Queue.RemoveAt(place);
        Count(group);
    }

    private int PlaceOf(JoinRequest request) => Sizes.Place(request.Process, Find(request.Process)!.Address, request.Tag);

    /// <summary>Counts the current size of a group.</summary>
    private void Count(GroupRecord group)
    {
        Bytes += group.Bytes - group.Counted;
        group.Counted = group.Bytes;
    }

    private void Request(GroupRecord group, Rebuild rebuild) =>
        _rebuild[group.Id] = _rebuild.GetValueOrDefault(group.Id) | rebuild;

    [Flags]
    private enum Rebuild
    {
        None = 0,
        WhenIdle = 1,
        Same = 2,
        Supersede = 4,
    }
}
