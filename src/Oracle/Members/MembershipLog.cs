using GroupCore.Membership;
using GroupCore.Runtime;

namespace Oracle;

/// <summary>
/// Writes what happens in membership to the event log. If there is a logger, it stands between <see cref="OracleMember"/> and the group layer and hears what the group layer
/// hears. What the group layer is not told, such as a change of leader, it finds by looking with each tick of 100 ms.
/// </summary>
internal sealed class MembershipLog(INode node, OracleMember member, IMembershipSink inner) : IMembershipSink
{
    private const long Late = 300 * Durations.Millisecond;
    private const int ExcludedKept = 256;
    private readonly Dictionary<GroupId, View> _views = [];
    private readonly Queue<ProcessId> _excluded = new();
    private MembershipState _state;
    private Replica _leader;
    private ulong _leads;
    private bool _hasLease;
    private bool _hadLease;
    private IReadOnlyList<Replica> _voters = [];
    private string _votersTold = "";

    public void OnMembershipState(MembershipState state, string reason)
    {
        bool changed = state != _state;
        var before = _state;
        _state = state;
        if (!changed) node.Log.Notice(reason);
        else if (state == MembershipState.Blocked) node.Log.ContactLost();
        else if (state == MembershipState.Active && before == MembershipState.Blocked) node.Log.ContactBack();
        else if (state == MembershipState.Active) node.Log.Registered($"{member.Self}", $"{member.System}");
        else if (state == MembershipState.Excluded && reason.StartsWith("left", StringComparison.Ordinal)) node.Log.Departed();
        else if (state == MembershipState.Excluded) node.Log.Excluded(reason);
        inner.OnMembershipState(state, reason);
    }

    public void OnJoinAccepted(string name, GroupId group) => inner.OnJoinAccepted(name, group);

    public void OnJoinRefused(string name, string reason)
    {
        node.Log.JoinRefused(name, reason);
        inner.OnJoinRefused(name, reason);
    }

    public void OnPropose(Proposal proposal) => inner.OnPropose(proposal);

    public void OnInstall(View view)
    {
        _views.TryGetValue(view.Group, out var before);
        foreach (var failed in view.Failed)
        {
            // Logged once, though it may have been in many groups.
            if (_excluded.Contains(failed)) continue;
            if (_excluded.Count >= ExcludedKept) _excluded.Dequeue();
            _excluded.Enqueue(failed);
            node.Log.ProcessExcluded($"{failed}", before?.RankOf(failed) is >= 0 and var rank ? $"{before.Members[rank].Address}" : "an address that this node never knew");
        }
        if (view.RankOf(member.Self) >= 0) _views[view.Group] = view;
        else _views.Remove(view.Group);
        inner.OnInstall(view);
    }

    public void OnGroupOver(GroupId group, string reason)
    {
        _views.Remove(group);
        inner.OnGroupOver(group, reason);
    }

    /// <summary>Called with each tick, which came <paramref name="late"/> nanoseconds after it was due.</summary>
    public void Look(long late)
    {
        if (late >= Late) node.Log.LoopLate(late / Durations.Millisecond);
        LookAtLeader();
        LookAtLease();
        if (ReferenceEquals(_voters, member.Voters)) return;
        _voters = member.Voters;
        string voters = string.Join(", ", _voters.Select(static voter => voter.Address.ToString()));
        if (voters.Length > 0 && voters != _votersTold) node.Log.VotersChanged(voters);
        _votersTold = voters;
    }

    private void LookAtLeader()
    {
        ulong leads = member.Replica?.Log is { Leading: not null, Term: var term } ? term : 0;
        if (leads != _leads && leads != 0) node.Log.LeaderElected(leads);
        else if (leads != _leads) node.Log.LeadEnded();
        _leads = leads;
        if (member.Leader == _leader) return;
        _leader = member.Leader;
        if (_leader.Node == 0) node.Log.LeaderUnknown();
        else if (_leader.Node != node.Id) node.Log.LeaderKnown($"{_leader.Address}");
    }

    private void LookAtLease()
    {
        bool has = member.LeaseUntil > node.Now;
        if (has && !_hasLease && _hadLease) node.Log.LeaseBack();
        else if (!has && _hasLease) node.Log.LeaseLost();
        _hasLease = has;
        _hadLease |= has;
    }
}
