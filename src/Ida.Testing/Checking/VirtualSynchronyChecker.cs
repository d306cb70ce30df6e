using System.Globalization;
using GroupCore.Membership;

namespace Ida.Testing.Checking;

/// <summary>
/// Judges what the members of one group did against the guarantees of virtual synchrony (views-and-flush.md#what-it-guarantees, multicast.md#what-it-guarantees). Feed it
/// from the handlers of every process, at the instant at which things happen there; not thread-safe, made for simulation.
/// </summary>
/// <remarks>
/// Each call judges what can be judged at once, so <see cref="Passed"/> can be an invariant after every step: the order of one sender, double deliveries, view lists; and at
/// each installed view, what the survivors of the one before had delivered, and whether returned flushes held.
/// <see cref="CheckFinal"/> judges the rest. The first initialised member to leave a view decides what the others must have delivered in it.
/// What a removed process delivered last binds nobody: it dies with the process, unless the process had flushed.
/// Messages are named by numbers of the caller's choice, unique in the group.
/// </remarks>
public sealed partial class VirtualSynchronyChecker(VirtualSynchronyOptions? options = null)
{
    private readonly VirtualSynchronyOptions _options = options ?? new();
    private readonly SortedDictionary<ProcessId, GroupProcess> _processes = [];
    private readonly SortedDictionary<ulong, GroupView> _views = [];
    private readonly Dictionary<ulong, GroupMessage> _messages = [];
    private readonly List<GroupViolation> _violations = [];
    private int _count;

    /// <summary>Whether nothing was broken so far.</summary>
    public bool Passed => _count == 0;

    /// <summary>What was broken, in the order in which it showed; at most as many as the options say.</summary>
    public IReadOnlyList<GroupViolation> Violations => _violations;

    /// <summary>Multicast deliveries judged.</summary>
    public long Deliveries { get; private set; }

    /// <summary>Views whose survivors were compared.</summary>
    public int ComparedViews { get; private set; }

    /// <summary>Throws when something was broken.</summary>
    /// <exception cref="ConsistencyViolationException">Not passed.</exception>
    public void ThrowIfFailed()
    {
        if (!Passed) throw new ConsistencyViolationException(ToString());
    }

    /// <summary>The verdict with all violations.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture,
        $"{(Passed ? "passed" : $"FAILED ({_count} violations)")}: {_views.Count} views, {ComparedViews} compared, {Deliveries} deliveries")
        + string.Concat(_violations.Select(violation => $"\n{violation}"));

    /// <summary>
    /// A process crashed, was excluded or was stopped: nothing more is heard of it. A process that rejoins does so under a new id.
    /// </summary>
    public void Crashed(ProcessId process) => Get(process).Ended = true;

    /// <summary>A process that has left, or whose join was undone, joins again under its id: what bound it before binds it no longer.</summary>
    internal void JoinsAgain(ProcessId process)
    {
        if (!_processes.TryGetValue(process, out var known) || !known.Ended) return;
        known.BeginAgain();
        foreach (var other in _processes.Values)
            if (_channels.TryGetValue((other, known), out var to)) to.AbandonRest();
    }

    /// <summary>
    /// All that a process has sent so far has gone out, in <paramref name="view"/> at the latest. If the process goes on from that view, it must have delivered all of it, and
    /// so must the others that go on, whatever becomes of the process afterwards.
    /// </summary>
    internal void HasSent(ProcessId process, ulong view)
    {
        if (_processes.TryGetValue(process, out var known) && !known.Ended) known.HasSent(view);
    }

    /// <summary>
    /// A process left of its own will and was told so. What it delivered must be part of what survivors deliver, and what it sent with success must be delivered.
    /// </summary>
    public void Left(ProcessId process)
    {
        var leaver = Get(process);
        leaver.Ended = true;
        leaver.Owe();
        if (!leaver.Initialised || !_views.TryGetValue(leaver.View, out var view)) return;
        view.Leavers.Add(leaver.Deliveries);
        if (view.Reference is not null) CompareLeaver(view, leaver.Deliveries);
    }

    /// <summary>A process calls flush; returns what <see cref="FlushReturned"/> needs.</summary>
    public GroupFlush FlushCalled(ProcessId process) => new(Act(process));

    /// <summary>A flush returned with success; from now on it binds the survivors, whatever becomes of its caller.</summary>
    public void FlushReturned(GroupFlush flush)
    {
        ArgumentNullException.ThrowIfNull(flush);
        BindSent(flush);
        if (!_views.TryGetValue(flush.View, out var view)) return;
        view.Flushes.Add(flush);
        if (view.Reference is { } reference) CheckFlush(view, flush, reference);
    }

    private GroupProcess Get(ProcessId process)
    {
        if (!_processes.TryGetValue(process, out var known)) _processes[process] = known = new(process);
        return known;
    }

    /// <summary>The process, which must not have ended.</summary>
    private GroupProcess Act(ProcessId process)
    {
        var known = Get(process);
        if (known.Ended) Report(GroupGuarantee.Integrity, known, known.View, "it acts after its end");
        return known;
    }

    private void Report(GroupGuarantee guarantee, GroupProcess process, ulong view, string message)
    {
        _count++;
        if (_violations.Count < _options.Most) _violations.Add(new(guarantee, process.Id, view, message));
    }
}
