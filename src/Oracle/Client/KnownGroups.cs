using GroupCore.Membership;
using Oracle.Frames;

namespace Oracle.Client;

/// <summary>The groups of this process as far as it knows; it asks the Oracle about them every second.</summary>
internal sealed class KnownGroups
{
    private const int EndedKept = 1_024;
    private readonly SortedDictionary<GroupId, Entry> _groups = [];
    // In the order of their ends, the latest last.
    private readonly OrderedDictionary<GroupId, ulong> _ended = [];

    public int Count => _groups.Count;

    public bool Has(GroupId group) => _groups.ContainsKey(group);

    /// <summary>The view in which this process is; 0 if there is none.</summary>
    public ulong ViewOf(GroupId group) => _groups.TryGetValue(group, out var entry) ? entry.View : 0;

    public void Accepted(GroupId group)
    {
        if (_groups.Count < Limits.GroupsPerProcess) _groups.TryAdd(group, new());
    }

    /// <summary>Notes a proposal; false when it is not for a group of this process, or the group is over for this process.</summary>
    public bool TakePropose(Proposal proposal, bool concerned)
    {
        if (_ended.TryGetValue(proposal.Group, out ulong last) && proposal.BaseView < last) return false;
        if (concerned) Accepted(proposal.Group);
        if (!_groups.TryGetValue(proposal.Group, out var entry)) return false;
        entry.Proposal = Math.Max(entry.Proposal, proposal.Number);
        return true;
    }

    /// <summary>Members of a proposal's base view that the proposal does not name: the Oracle has excluded them.</summary>
    public IEnumerable<ProcessId> FailedOf(Proposal proposal)
    {
        if (!_groups.TryGetValue(proposal.Group, out var entry) || entry.Latest is not { } view || view.Id != proposal.BaseView) yield break;
        if (proposal.Survivors.Count + proposal.Leavers.Count == view.Members.Count) yield break;
        var left = new HashSet<ProcessId>(proposal.Survivors);
        left.UnionWith(proposal.Leavers);
        foreach (var member in view.Members)
            if (!left.Contains(member.Id)) yield return member.Id;
    }

    public bool TakeInstall(View view, ProcessId self)
    {
        bool member = view.RankOf(self) >= 0;
        if (_ended.TryGetValue(view.Group, out ulong last) && view.Id <= last) return false;
        if (member) Accepted(view.Group);
        if (!_groups.TryGetValue(view.Group, out var entry)) return false;
        // A view without this process ends the group here only if it follows a view in which this process was.
        if (!member && view.Id <= entry.View) return false;
        if (!member && entry.View == 0) return false;
        if (member)
        {
            if (view.Id >= entry.View) (entry.View, entry.Latest) = (view.Id, view);
        }
        else End(view.Group, view.Id);
        return true;
    }

    /// <summary>Takes over what the group layer knows: it may have skipped a view or a proposal that was noted here.</summary>
    public void Set(GroupId group, ulong view, ulong proposal)
    {
        if (!_groups.TryGetValue(group, out var entry)) return;
        (entry.View, entry.Proposal) = (view, proposal);
    }

    /// <summary>The group is over for this process with view <paramref name="last"/>: anything older does not concern it any more. It may join again.</summary>
    public bool End(GroupId group, ulong last = ulong.MaxValue)
    {
        if (!_groups.Remove(group)) return false;
        _ended.Remove(group);
        _ended.Add(group, last);
        if (_ended.Count > EndedKept) _ended.RemoveAt(0);
        return true;
    }

    /// <summary>Groups that this process waits to become a member of.</summary>
    public List<GroupId> Awaited()
    {
        var awaited = new List<GroupId>();
        foreach (var (group, entry) in _groups)
            if (entry.View == 0) awaited.Add(group);
        return awaited;
    }

    /// <summary>This process waits for the group no longer. Later news of the group counts again.</summary>
    public void GiveUp(GroupId group)
    {
        if (_groups.TryGetValue(group, out var entry) && entry.View == 0) _groups.Remove(group);
    }

    public List<Known> Known()
    {
        var known = new List<Known>(_groups.Count);
        foreach (var (group, entry) in _groups) known.Add(new(group, entry.View, entry.Proposal));
        return known;
    }

    public void Clear() => _groups.Clear();

    private sealed class Entry
    {
        public ulong View { get; set; }

        public ulong Proposal { get; set; }

        public View? Latest { get; set; }
    }
}
