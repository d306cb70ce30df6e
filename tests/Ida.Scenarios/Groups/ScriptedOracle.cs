using GroupCore.Membership;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>
/// Membership as the Oracle decides it (oracle.md#the-normal-case), in one object without consensus, so that groups are tested alone. Its
/// events reach members late, out of order, twice, or only after a repetition.
/// </summary>
internal sealed class ScriptedOracle(Simulation simulation)
{
    private readonly SortedDictionary<string, ScriptedGroup> _groups = new(StringComparer.Ordinal);
    private readonly List<ScriptedMembership> _processes = [];
    private ulong _index;
    private uint _groupNumbers;

    /// <summary>Events are delayed by at most this.</summary>
    public TimeSpan MaxDelay { get; set; } = TimeSpan.FromMilliseconds(20);

    /// <summary>Probability that an event is lost; repetition or a sync brings it again.</summary>
    public double Loss { get; set; } = 0.05;

    /// <summary>How long requests are gathered before a proposal is made of them (oracle.md#what-comes-together-is-one-entry).</summary>
    public TimeSpan Gather { get; set; }

    /// <summary>Negative control of A3: the view completion of a superseded proposal counts.</summary>
    public bool AcceptsOldDone { get; set; }

    public int Installs { get; private set; }

    public List<(ProcessId Subject, Suspicion Evidence)> Suspicions { get; } = [];

    /// <summary>Suspicions taken back.</summary>
    public List<ProcessId> Withdrawals { get; } = [];

    public Action<string>? Log { get; set; }

    public ScriptedMembership Register(SimNode node)
    {
        var process = new ScriptedMembership(simulation, this, node, new(node.Id, ++_index));
        _processes.Add(process);
        simulation.After(TimeSpan.FromMilliseconds(500), Repeat);
        return process;
    }

    public ScriptedGroup? Find(string name) => _groups.GetValueOrDefault(name);

    public void Join(string name, GroupOptions options, ScriptedMembership from, string tag)
    {
        if (from.Failed) return;
        if (!_groups.TryGetValue(name, out var group))
        {
            group = new(new(++_groupNumbers, 1), name, options);
            _groups.Add(name, group);
            _index++;
            group.Members.Add(new(from.Self, from.Node.Address, true, tag));
            from.Tell(sink => sink.OnJoinAccepted(name, group.Id));
            Decide(group, [from.Self], [], []);
            return;
        }
        if (group.Members.Exists(m => m.Id == from.Self) || group.Queue.Exists(m => m.Id == from.Self)) return;
        group.Queue.Add(new(from.Self, from.Node.Address, false, tag));
        from.Tell(sink => sink.OnJoinAccepted(name, group.Id));
        if (group.Pending is null) BuildSoon(group);
    }

    public void Leave(GroupId id, ProcessId process)
    {
        if (Find(id) is not { } group || !group.Members.Exists(m => m.Id == process)) return;
        if (!group.Leaving.Contains(process)) group.Leaving.Add(process);
        if (group.Pending is null) BuildSoon(group);
    }

    public void RequestView(GroupId id)
    {
        if (Find(id) is { Pending: null } group) Build(group, force: true);
    }

    /// <summary>One entry that removes several processes from all groups.</summary>
    public void Fail(params ScriptedMembership[] processes)
    {
        _index++;
        foreach (var process in processes)
        {
            if (process.Failed) continue;
            process.Failed = true;
            Log?.Invoke($"{simulation.Now.TotalMilliseconds:0.0} fail {process.Self}");
            process.Exclude(simulation.Random);
        }
        foreach (var group in _groups.Values)
        {
            group.Queue.RemoveAll(m => IsFailed(m.Id));
            bool touched = group.Members.Exists(m => IsFailed(m.Id)) || (group.Pending?.Joiners.Any(j => IsFailed(j.Id)) ?? false);
            if (touched) BuildSoon(group);
        }
    }

    public void CompleteView(GroupId id, ulong baseView, ulong proposal, IReadOnlyList<ProcessId> initialised)
    {
        if (Find(id) is not { Pending: { } pending } group || group.View != baseView) return;
        if (pending.Number != proposal && !AcceptsOldDone) return;
        var joined = pending.Joiners.Select(j => j.Id).ToList();
        var stay = pending.Survivors.ToHashSet();
        var left = pending.Leavers;
        var failed = group.Members.Select(m => m.Id).Where(m => !stay.Contains(m) && !left.Contains(m)).ToList();
        var known = group.Members.Concat(pending.Joiners).ToDictionary(m => m.Id);
        var next = Ranks.Compose([.. group.Members.Select(m => m.Id)], stay.Contains, joined, group.Options.Composition);
        group.Members.Clear();
        foreach (var member in next) group.Members.Add(known[member] with { Initialised = initialised.Contains(member) });
        group.Queue.RemoveAll(m => joined.Contains(m.Id));
        group.Leaving.RemoveAll(m => !next.Contains(m));
        group.Pending = null;
        if (next.Count > 0 && !group.Members.Exists(static m => m.Initialised))
        {
            Lose(group);
            return;
        }
        Decide(group, joined, left, failed, proposal);
        if (group.Members.Exists(m => IsFailed(m.Id)) || group.Queue.Count > 0 || group.Leaving.Count > 0) Build(group);
    }

    public void Sync(GroupId id, ulong view, ulong proposal, ScriptedMembership from)
    {
        if (Find(id) is not { } group) return;
        foreach (var install in group.Installed.Where(v => v.Id > view)) from.Tell(sink => sink.OnInstall(install));
        if (group.Pending is { } pending && pending.Number > proposal) from.Tell(sink => sink.OnPropose(pending));
    }

    private ScriptedGroup? Find(GroupId id) => _groups.Values.FirstOrDefault(g => g.Id == id);

    private bool IsFailed(ProcessId id) => _processes.Exists(p => p.Self == id && p.Failed);

    private void BuildSoon(ScriptedGroup group)
    {
        if (Gather == TimeSpan.Zero)
        {
            Build(group, force: group.Pending is not null);
            return;
        }
        if (group.Gathering) return;
        group.Gathering = true;
        simulation.After(Gather, () =>
        {
            group.Gathering = false;
            Build(group, force: group.Pending is not null);
        });
    }

    private void Build(ScriptedGroup group, bool force = false)
    {
        if (group.Members.Count == 0) return;
        var alive = group.Members.Where(m => !IsFailed(m.Id)).ToList();
        if (!alive.Exists(m => m.Initialised))
        {
            Lose(group);
            return;
        }
        var leavers = group.Leaving.Where(l => alive.Exists(m => m.Id == l)).ToList();
        var joiners = group.Queue.Where(m => !IsFailed(m.Id)).ToList();
        if (!force && alive.Count == group.Members.Count && joiners.Count == 0 && leavers.Count == 0) return;
        var survivors = alive.Select(m => m.Id).Where(m => !leavers.Contains(m)).ToList();
        if (survivors.Count == 0)
        {
            // The last ones left: the name is free.
            _groups.Remove(group.Name);
            foreach (var process in _processes) process.Tell(sink => sink.OnGroupOver(group.Id, "its last members have left"), certain: true);
            return;
        }
        group.Pending = new(group.Id, ++_index, group.View, survivors, leavers, joiners);
        Log?.Invoke($"{simulation.Now.TotalMilliseconds:0.0} propose {group.Pending.Number} on {group.View}: [{string.Join(' ', survivors)}] -[{string.Join(' ', leavers)}] +[{string.Join(' ', joiners.Select(j => j.Id))}]");
        Push(group);
    }

    /// <summary>No member that stays holds the state; leavers that hold it are told like the others.</summary>
    private void Lose(ScriptedGroup group)
    {
        group.Lost = true;
        foreach (var process in _processes) process.Tell(sink => sink.OnGroupOver(group.Id, "its state was lost"), certain: true);
    }

    private void Decide(ScriptedGroup group, IReadOnlyList<ProcessId> joined, IReadOnlyList<ProcessId> left, IReadOnlyList<ProcessId> failed, ulong proposal = 0)
    {
        var before = group.Installed.LastOrDefault();
        var moved = new List<Move>();
        for (int rank = 0; rank < group.Members.Count; rank++)
            if (before?.RankOf(group.Members[rank].Id) is int old and >= 0 && old != rank) moved.Add(new(group.Members[rank].Id, old, rank));
        var view = new View(group.Id, group.Name, ++group.View, proposal, group.Options, [.. group.Members], joined, left, failed, moved);
        group.Installed.Add(view);
        Installs++;
        Log?.Invoke($"{simulation.Now.TotalMilliseconds:0.0} install {view.Id} by {proposal}: [{string.Join(' ', view.Members.Select(m => m.Id + (m.Initialised ? "" : "?")))}]");
        foreach (var process in _processes)
            if (view.RankOf(process.Self) >= 0 || left.Contains(process.Self)) process.Tell(sink => sink.OnInstall(view));
    }

    private void Push(ScriptedGroup group)
    {
        if (group.Pending is not { } pending) return;
        foreach (var process in _processes)
            if (pending.Survivors.Contains(process.Self) || pending.Leavers.Contains(process.Self)) process.Tell(sink => sink.OnPropose(pending));
    }

    private void Repeat()
    {
        foreach (var group in _groups.Values)
        {
            Push(group);
            if (group.Installed.Count == 0) continue;
            var last = group.Installed[^1];
            foreach (var process in _processes)
                if (last.RankOf(process.Self) >= 0 || last.Left.Contains(process.Self)) process.Tell(sink => sink.OnInstall(last));
        }
        simulation.After(TimeSpan.FromMilliseconds(500), Repeat);
    }
}
