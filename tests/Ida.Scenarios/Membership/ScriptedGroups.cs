using Oracle;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace Ida.Scenarios;

/// <summary>
/// A group layer without messages. On a proposal every member acknowledges, and when all have, the flush leader sends the view completion,
/// after a random delay or, like a survivor that waits for nobody, in the same turn. Checks at each install what a real flush relies on.
/// </summary>
internal sealed class ScriptedGroups(string name, INode node, OracleMember oracle, DecisionChecker checker, Func<long> time) : IMembershipSink, ITimerTarget
{
    private readonly SortedDictionary<GroupId, GroupScript> _groups = [];
    private readonly Dictionary<long, Proposal> _flushes = [];
    private long _nextFlush = 1;

    public MembershipState State { get; private set; }

    public List<string> Events { get; } = [];

    public List<string> Refused { get; } = [];

    public List<(string Name, GroupId Group)> Accepted { get; } = [];

    /// <summary>The names of all groups of which it was a member.</summary>
    public HashSet<string> Joined { get; } = [];

    public long LongestDelay { get; set; } = 3 * Durations.Millisecond;

    /// <summary>Whether a flush that all have acknowledged is reported in the turn that hears of its proposal.</summary>
    public bool ReportsAtOnce { get; set; }

    /// <summary>Flushes reported in the turn that heard of them.</summary>
    public int ReportedAtOnce { get; private set; }

    public IEnumerable<GroupScript> Groups => _groups.Values;

    public View? ViewOf(string group) => _groups.Values.FirstOrDefault(g => g.View?.Name == group)?.View;

    public bool IsWedged => _groups.Values.Any(group => group.Wedge is not null);

    public void OnMembershipState(MembershipState state, string reason)
    {
        State = state;
        Events.Add($"{state}: {reason}");
        if (state == MembershipState.Excluded) _groups.Clear();
    }

    public void OnJoinAccepted(string name, GroupId group) => Accepted.Add((name, group));

    public void OnJoinRefused(string name, string reason) => Refused.Add($"{name}: {reason}");

    public void OnPropose(Proposal proposal)
    {
        if (!_groups.TryGetValue(proposal.Group, out var group)) _groups[proposal.Group] = group = new();
        ulong own = group.View?.Id ?? 0;
        bool member = proposal.Survivors.Contains(oracle.Self) || proposal.Leavers.Contains(oracle.Self);
        if (member && proposal.BaseView > own) oracle.Sync(proposal.Group, own, group.Wedge?.Number ?? 0);
        if (!member || proposal.BaseView != own || proposal.Number <= (group.Wedge?.Number ?? 0)) return;
        group.Wedge = proposal;
        checker.Acknowledged(proposal, oracle.Self);
        if (group.View!.RankOf(oracle.Self) != proposal.LeaderIn(group.View)) return;
        if (ReportsAtOnce && checker.AllAcknowledged(proposal))
        {
            ReportedAtOnce++;
            Report(proposal);
            return;
        }
        _flushes[_nextFlush] = proposal;
        node.SetTimer(node.Now + node.Random.Next(0, LongestDelay), this, _nextFlush++);
    }

    public void OnTimer(long token)
    {
        if (!_flushes.Remove(token, out var proposal) || State == MembershipState.Excluded) return;
        if (!_groups.TryGetValue(proposal.Group, out var group) || group.Wedge != proposal) return;
        if (checker.AllAcknowledged(proposal))
        {
            Report(proposal);
            return;
        }
        _flushes[_nextFlush] = proposal;
        node.SetTimer(node.Now + Durations.Millisecond + node.Random.Next(0, LongestDelay), this, _nextFlush++);
    }

    public void OnInstall(View view)
    {
        if (!_groups.TryGetValue(view.Group, out var group)) _groups[view.Group] = group = new();
        ulong own = group.View?.Id ?? 0;
        if (view.Id <= own) return;
        bool member = view.RankOf(oracle.Self) >= 0, was = group.View is not null;
        if (was && view.Id > own + 1)
        {
            oracle.Sync(view.Group, own, group.Wedge?.Number ?? 0);
            return;
        }
        if (!was && !member) return;
        if (!was && !view.Joined.Contains(oracle.Self)) checker.Violations.Add($"{name} begins {view.Group} with view {view.Id}, which it did not join");
        // R8, A3: a view ends the flush that its members acknowledged, no other.
        if (was && group.Wedge?.Number != view.Proposal)
            checker.Violations.Add($"{name} acknowledged proposal {group.Wedge?.Number} and got {view.Group} view {view.Id} of proposal {view.Proposal}");
        checker.Installed(name, view, time());
        if (member) Joined.Add(view.Name);
        (group.View, group.Wedge) = (view, null);
        group.Installs++;
        if (!member) _groups.Remove(view.Group);
    }

    public void OnGroupOver(GroupId group, string reason)
    {
        Events.Add($"over {group}: {reason}");
        _groups.Remove(group);
    }

    /// <summary>Notes in which views this process could act now.</summary>
    public void Sample()
    {
        if (oracle.State != MembershipState.Active || node.Now >= oracle.LeaseUntil) return;
        foreach (var (_, group) in _groups)
            if (group is { View: { } view, Wedge: null }) checker.Active(view, oracle.Self, time());
    }

    private void Report(Proposal proposal) =>
        oracle.CompleteView(proposal.Group, proposal.BaseView, proposal.Number, [.. proposal.Survivors, .. proposal.Leavers]);

    internal sealed class GroupScript
    {
        public View? View { get; set; }

        public Proposal? Wedge { get; set; }

        public int Installs { get; set; }
    }
}
