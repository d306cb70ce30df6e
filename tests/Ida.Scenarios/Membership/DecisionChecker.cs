using GroupCore.Membership;

namespace Ida.Scenarios;

/// <summary>Notes what all processes of a run saw, and lists what violates a guarantee.</summary>
internal sealed class DecisionChecker
{
    /// <summary>Beginnings of the messages about replicas that apply different entries, and about two views in which somebody may act.</summary>
    public const string LogDiffers = "log agreement: ", TwoActive = "StrictPrimary: ";

    private readonly Dictionary<ulong, string> _log = [];
    private readonly Dictionary<ulong, ulong> _leaders = [];
    private readonly Dictionary<(GroupId, ulong), string> _views = [];
    private readonly Dictionary<(GroupId, ulong), HashSet<ProcessId>> _acks = [];
    private readonly Dictionary<(GroupId, ulong), long> _installedAt = [];
    private readonly Dictionary<string, (GroupId Group, long At)> _named = [];
    private readonly List<View> _decided = [];

    public List<string> Violations { get; } = [];

    public IReadOnlyList<View> Views => _decided;

    public ulong Committed { get; private set; }

    /// <summary>Whether clocks are as good as leases need; otherwise two views may be active at a time.</summary>
    public bool LeasesHold { get; set; } = true;

    public void Applied(string who, ulong index, Oracle.Raft.LogEntry entry)
    {
        string text = $"{entry.Term}/{entry.Kind}/{Convert.ToHexString(entry.Content)}";
        Committed = Math.Max(Committed, index);
        if (_log.TryAdd(index, text) || _log[index] == text) return;
        Violations.Add($"{LogDiffers}{who} applied another entry at {index}");
    }

    public void Leads(string who, ulong term, ulong node)
    {
        if (_leaders.TryAdd(term, node) || _leaders[term] == node) return;
        Violations.Add($"one leader per term: {who} leads in term {term}, which another node led");
    }

    /// <summary>One entry can propose views of several groups, all under its number: a process that has acknowledged one has not acknowledged the others.</summary>
    public void Acknowledged(Proposal proposal, ProcessId process)
    {
        var key = (proposal.Group, proposal.Number);
        if (!_acks.TryGetValue(key, out var acks)) _acks[key] = acks = [];
        acks.Add(process);
    }

    public bool AllAcknowledged(Proposal proposal) =>
        _acks.TryGetValue((proposal.Group, proposal.Number), out var acks) && proposal.Survivors.All(acks.Contains) && proposal.Leavers.All(acks.Contains);

    public void Installed(string who, View view, long now)
    {
        string text = $"{view.Proposal}: {string.Join(' ', view.Members.Select(m => (m.Id, m.Initialised)))}";
        if (_views.TryAdd((view.Group, view.Id), text)) _decided.Add(view);
        else if (_views[(view.Group, view.Id)] != text) Violations.Add($"view agreement: {who} installed {view} as {text}, another as {_views[(view.Group, view.Id)]}");
        _installedAt.TryAdd((view.Group, view.Id), now);
        if (!_named.TryGetValue(view.Name, out var named) || named.Group < view.Group) _named[view.Name] = (view.Group, now);
    }

    /// <summary>
    /// A process could act in a view at this time: it held its lease and was not wedged. Then the next view, and a later group of the same name, must not have been installed
    /// yet. Judged only while <see cref="LeasesHold"/>.
    /// </summary>
    public void Active(View view, ProcessId process, long now)
    {
        if (!LeasesHold) return;
        if (_installedAt.TryGetValue((view.Group, view.Id + 1), out long next) && now > next)
            Violations.Add($"{TwoActive}{process} acted in {view.Group} view {view.Id} at {now}, view {view.Id + 1} was installed at {next}");
        if (_named.TryGetValue(view.Name, out var named) && view.Group < named.Group && now > named.At)
            Violations.Add($"{TwoActive}{process} acted in {view.Group} at {now}, another group {view.Name}, {named.Group}, began at {named.At}");
    }
}
