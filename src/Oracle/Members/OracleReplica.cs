using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.Frames;
using Oracle.Leading;
using Oracle.Raft;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle;

/// <summary>A copy of the Oracle in this process: log, state machine and the leader's services, and the answers that any copy may give.</summary>
internal sealed partial class OracleReplica : ILogPort, IStateEvents
{
    private const int OverPerAnswer = 1_024;
    private const int BytesPerAnswer = 256 << 10;
    private const long AnswersApart = 50 * Durations.Millisecond;
    private readonly INode _node;
    private readonly FrameSender _sender;
    private readonly Action _requestTurn;
    private readonly Action _roleChanged;

    // Processes that got an answer since _answeredSince. None gets a second one until AnswersApart has passed.
    private readonly HashSet<ProcessId> _answered = [];
    private long _answeredSince;

    public OracleReplica(INode node, OracleOptions options, FrameSender sender, Action requestTurn, Action roleChanged)
    {
        (_node, _sender, _requestTurn, _roleChanged) = (node, sender, requestTurn, roleChanged);
        var rules = OracleRules.Without(node.Without);
        State = new(this, rules);
        Log = new(node, rules, options, this, State);
        Services = new(node, options, sender, Log, State);
    }

    /// <summary>Whether other replicas have introduced this node, which cannot be dialled from here.</summary>
    public Predicate<ulong> IsIntroduced { get; init; } = static _ => false;

    /// <summary>Called for each process that is excluded or has left, after the leader's services, which tell that process.</summary>
    public Action<ProcessId>? OnExcluded { get; init; }

    public OracleState State { get; }

    public ReplicatedLog Log { get; }

    public LeaderServices Services { get; }

    /// <summary>Whether this node leads or is a replica, as far as this copy knows.</summary>
    public bool Knows(ulong nodeId) => Log.LeaderHint.Node == nodeId || Log.Entries.Configuration.Contains(nodeId);

    /// <summary>
    /// Answers a process with the views and proposals that it lacks. Any replica may answer: what it has applied is committed, so it can be old but not wrong; it says nothing
    /// of entries that it has not applied yet. The size of an answer is bounded (only its last frame may exceed the bound), and so is how often a process gets one. If there is
    /// more, the process is told so, and asks again. Each answer begins at a random one of the process's groups, so that no group always waits for others.
    /// </summary>
    public void OnSync(int peer, in Replica from, SyncAsk ask)
    {
        if (ask.Process.Node != from.Node || ask.Process.Incarnation > State.Index) return;
        if (State.Find(ask.Process) is not { Alive: true } process)
        {
            _sender.Reply(peer, new ExcludedFrame(ask.Process, "the Oracle excluded this process"));
            return;
        }
        if (peer != FrameSender.Own) _node.Links.Vouch(peer);
        if (_node.Now - _answeredSince >= AnswersApart)
        {
            _answered.Clear();
            _answeredSince = _node.Now;
        }
        if (!_answered.Add(ask.Process)) return;
        var over = new List<GroupId>();
        var asked = new SortedSet<GroupId>();
        var lacking = new List<(GroupRecord Group, ulong View, ulong Proposal)>();
        bool more = false;
        foreach (var known in ask.Groups)
        {
            if (!asked.Add(known.Group)) continue;
            if (State.Find(known.Group) is { } group) lacking.Add((group, known.View, known.Proposal));
            else if (known.Group.Incarnation > State.Index) continue;
            else if (over.Count < OverPerAnswer) over.Add(known.Group);
            else more = true;
        }
        foreach (var id in process.Groups)
            if (!asked.Contains(id)) lacking.Add((State.Find(id)!, 0, 0));
        int room = BytesPerAnswer, first = lacking.Count == 0 ? 0 : _node.Random.Next(lacking.Count);
        for (int i = 0; i < lacking.Count; i++)
        {
            var (group, view, proposal) = lacking[(first + i) % lacking.Count];
            if (SendMissingViews(peer, group, ask.Process, view, proposal, ref room)) continue;
            more = true;
            break;
        }
        _sender.Reply(peer, new SyncAnswer(Log.Entries.ConfigurationAt(Log.Commit), Log.LeaderHint, over, "the group is over", more));
    }

    void ILogPort.Send(in Replica to, IFrame frame) => _sender.Send(to, frame);

    bool ILogPort.HasRoom(in Replica to) => _node.Links.Room(_node.Links.Open(to.Address, to.Node)) > 0;

    LinkMark ILogPort.EndOf(in Replica to)
    {
        int peer = _node.Links.Open(to.Address, to.Node);
        return new(peer, _node.Links.Taken(peer) + _node.Links.Backlog(peer));
    }

    bool ILogPort.Holds(in Replica to, LinkMark end)
    {
        int peer = _node.Links.Open(to.Address, to.Node);
        return peer == end.Peer && _node.Links.Taken(peer) < end.Position;
    }

    bool ILogPort.IsConfirmed(in Replica other) => other.Node == _node.Id || _node.Links.IsConfirmed(_node.Links.Open(other.Address, other.Node));

    bool ILogPort.IsIntroduced(in Replica other) => IsIntroduced(other.Node);

    void ILogPort.OnRoleChanged()
    {
        Services?.Reset();
        _roleChanged();
    }

    void ILogPort.OnProgress()
    {
        Services?.OnProgress();
        _requestTurn();
    }

    void ILogPort.RequestTurn() => _requestTurn();

    void IStateEvents.OnAnswered(Request request, OperationResult result) => Services.OnAnswered(request, result);

    void IStateEvents.OnIgnored(Request request) => Services.OnIgnored(request);

    void IStateEvents.OnRegistered(ProcessRecord process)
    {
    }

    void IStateEvents.OnExcluded(ProcessRecord process)
    {
        Services.OnExcluded(process);
        OnExcluded?.Invoke(process.Id);
    }

    void IStateEvents.OnProposed(GroupRecord group) => Services.OnProposed(group);

    void IStateEvents.OnInstalled(GroupRecord group, IReadOnlyList<ViewMember> goers) => Services.OnInstalled(group, goers);

    void IStateEvents.OnOver(GroupRecord group, string reason, IReadOnlyList<ProcessId> concerned) => Services.OnOver(group, reason, concerned);

    void IStateEvents.OnRestored()
    {
    }

    /// <summary>
    /// Sends the installs after <paramref name="view"/> that concern the process, up to the first one without it, and the pending proposal. A process that
    /// knows of no view gets the installs since it last joined, or none while it waits to join: older ones belong to a membership that is over. False when
    /// there was no room for all of them.
    /// </summary>
    private bool SendMissingViews(int peer, GroupRecord group, ProcessId process, ulong view, ulong proposal, ref int room)
    {
        int from = view > 0 ? 0 : group.QueueIndexOf(process) >= 0 ? group.Installs.Count : group.Installs.FindLastIndex(install => install.Joined.Contains(process));
        // A member since before the oldest kept install gets the latest one only.
        if (from < 0) from = group.View.RankOf(process) >= 0 ? group.Installs.Count - 1 : group.Installs.Count;
        for (int i = from; i < group.Installs.Count; i++)
        {
            View install = group.Installs[i];
            if (install.Id <= view) continue;
            if (room <= 0) return false;
            room -= _sender.Reply(peer, new InstallFrame(install));
            if (install.RankOf(process) < 0) return true;
        }
        if (group.Pending is not { } pending || pending.Number <= proposal || !Concerns(pending.Proposal, process)) return true;
        if (room <= 0) return false;
        room -= _sender.Reply(peer, new ProposeFrame(pending.Proposal));
        return true;
    }

    private static bool Concerns(Proposal proposal, ProcessId process)
    {
        if (proposal.Survivors.Contains(process) || proposal.Leavers.Contains(process)) return true;
        foreach (var joiner in proposal.Joiners)
            if (joiner.Id == process) return true;
        return false;
    }
}
