using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.Frames;
using Oracle.Raft;
using Oracle.State;

namespace Oracle.Leading;

/// <summary>
/// Tells processes what was decided. This is an optimisation: what is lost here, members find out by asking (oracle.md#pushes-may-be-lost). What a deposed leader sends is
/// committed, so it may be old but never wrong. A proposal is repeated every second while it is pending. News for all processes, or for many excluded ones, goes to a bounded
/// number of processes with each step.
/// </summary>
internal sealed class DecisionBroadcaster(INode node, FrameSender sender)
{
    private const long RepeatAfter = Durations.Second;
    private const int PerStep = 256;
    private readonly Dictionary<GroupId, long> _pending = [];

    // In the order in which they are due, so that each has its turn. An item is skipped if the group has a newer proposal, or its view was decided.
    private readonly Queue<(GroupId Group, long Due)> _order = new();
    private readonly List<Replica> _to = [];
    private readonly ToldInTurn _replicas = new();
    private readonly ToldInTurn _excluded = new();

    public void Clear()
    {
        _pending.Clear();
        _order.Clear();
        _replicas.Clear();
        _excluded.Clear();
    }

    /// <summary>A leadership begins: every process is told who leads, and all pending proposals follow, a bounded number at a time in each case.</summary>
    public void Begin(OracleState state, ReplicatedLog log)
    {
        _pending.Clear();
        _order.Clear();
        foreach (var group in state.Groups)
            if (group.Pending is not null) Await(group.Id, node.Now);
        Replicas(state, log);
    }

    /// <summary>Tells every process the current replicas: those that it knows may all be gone before it asks the leader again.</summary>
    public void Replicas(OracleState state, ReplicatedLog log)
    {
        foreach (var process in state.Processes)
            if (process.Alive) _replicas.Add(process);
        TellReplicas(log);
    }

    public void Propose(OracleState state, GroupRecord group)
    {
        if (group.Pending is not { } pending) return;
        Await(group.Id, node.Now + RepeatAfter);
        _to.Clear();
        foreach (var id in pending.Proposal.Survivors) Add(state, id);
        foreach (var id in pending.Proposal.Leavers) Add(state, id);
        foreach (var joiner in pending.Proposal.Joiners) Add(state, joiner.Id);
        if (_to.Count > 0) sender.Send(_to, new ProposeFrame(pending.Proposal));
    }

    public void Install(GroupRecord group, IReadOnlyList<ViewMember> goers)
    {
        _pending.Remove(group.Id);
        _to.Clear();
        foreach (var member in group.View.Members) _to.Add(new(member.Id.Node, member.Address));
        foreach (var member in goers) _to.Add(new(member.Id.Node, member.Address));
        if (_to.Count > 0) sender.Send(_to, new InstallFrame(group.View));
    }

    public void Over(OracleState state, GroupRecord group, string reason, IReadOnlyList<ProcessId> concerned, ReplicatedLog log)
    {
        _pending.Remove(group.Id);
        _to.Clear();
        foreach (var id in concerned) Add(state, id);
        if (_to.Count > 0) sender.Send(_to, new SyncAnswer(log.Entries.ConfigurationAt(log.Commit), log.LeaderHint, [group.Id], reason));
    }

    public void SendExcluded(ProcessRecord process)
    {
        _excluded.Add(process);
        TellExcluded();
    }

    /// <summary>Called every 100 ms.</summary>
    public void Step(OracleState state, ReplicatedLog log)
    {
        _replicas.Step();
        _excluded.Step();
        TellExcluded();
        TellReplicas(log);
        Repeat(state);
    }

    /// <summary>Repeats proposals that are due, the longest due first.</summary>
    public void Repeat(OracleState state)
    {
        for (int left = PerStep; left > 0 && _order.TryPeek(out var next) && next.Due <= node.Now;)
        {
            _order.Dequeue();
            if (!_pending.TryGetValue(next.Group, out long due) || due != next.Due) continue;
            left--;
            if (state.Find(next.Group) is { Pending: not null } group) Propose(state, group);
            else _pending.Remove(next.Group);
        }
    }

    private void Await(GroupId group, long due)
    {
        _pending[group] = due;
        _order.Enqueue((group, due));
    }

    private void TellReplicas(ReplicatedLog log)
    {
        _to.Clear();
        while (_replicas.TryTake(out var process))
            if (process.Alive) _to.Add(new(process.Id.Node, process.Address));
        if (_to.Count > 0) sender.Send(_to, new SyncAnswer(log.Entries.ConfigurationAt(log.Commit), log.LeaderHint, [], ""));
    }

    private void TellExcluded()
    {
        while (_excluded.TryTake(out var process))
            sender.Send(process.Id.Node, process.Address, new ExcludedFrame(process.Id, "the Oracle excluded this process: it did not answer or was reported gone"));
    }

    private void Add(OracleState state, ProcessId id)
    {
        if (state.Find(id) is { Alive: true } process) _to.Add(new(id.Node, process.Address));
    }
}
