using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.Frames;
using Oracle.State.Operations;

namespace Oracle.Client;

/// <summary>
/// Requests of this process that wait for an answer. They are sent to the believed leader and repeated after 200 ms … 1 s, to another voter if the leader does not answer. A
/// request's number makes a repeat harmless. A newer view completion of a group replaces the one that waits; an older or equal one makes no new request. Nor does a second
/// request for a view after the same view while the first one waits; the Oracle would ignore it once a proposal is pending.
/// </summary>
internal sealed class PendingRequests(INode node, FrameSender sender, OracleDirectory directory)
{
    private const long FirstRepeat = 200 * Durations.Millisecond;
    private const long LastRepeat = Durations.Second;
    private const int PerStep = 256;
    private const ulong Registration = 0;
    private readonly SortedDictionary<ulong, Waiting> _waiting = [];
    private readonly SortedDictionary<GroupId, ulong> _completions = [];
    private readonly Dictionary<Renew, ulong> _views = [];

    // For each waiting request whose result the Oracle records: how many such requests were submitted before it. The Oracle keeps all results from the oldest of these requests on.
    private readonly SortedDictionary<ulong, ulong> _recorded = [];
    private readonly List<Waiting> _due = [];
    private ulong _last, _submitted;

    /// <summary>This process; requests other than the registration wait until it has an incarnation.</summary>
    public ProcessId Self { get; set; }

    /// <summary>Whether there is room for one more request whose result the Oracle records.</summary>
    public bool HasRoom => _recorded.Count == 0 || _submitted - _recorded.First().Value < Limits.RequestsPerProcess - 16;

    /// <summary>Requests without an answer.</summary>
    public int Count => _waiting.Count;

    public ulong Submit(Operation operation)
    {
        if (operation is ViewCompletion repeated && _completions.TryGetValue(repeated.Group, out ulong waits) && _waiting.TryGetValue(waits, out var present) && Covers((ViewCompletion)present.Operation, repeated)) return waits;
        if (operation is Renew asked && _views.TryGetValue(asked, out ulong first)) return first;
        ulong number = operation is Register ? Registration : ++_last;
        if (operation is ViewCompletion completion)
        {
            if (_completions.TryGetValue(completion.Group, out ulong earlier)) _waiting.Remove(earlier);
            _completions[completion.Group] = number;
        }
        else if (operation is Renew renew)
        {
            _views.Add(renew, number);
        }
        else if (operation is not Register)
        {
            _recorded.Add(number, _submitted++);
        }
        var waiting = new Waiting(number, operation);
        _waiting[number] = waiting;
        Send(waiting);
        return number;
    }

    /// <summary>Takes an answer and returns the operation that it answers; null for the answer to a repeat.</summary>
    public Operation? Take(ulong number)
    {
        if (!_waiting.Remove(number, out var waiting)) return null;
        _recorded.Remove(number);
        if (waiting.Operation is ViewCompletion completion && _completions.GetValueOrDefault(completion.Group) == number) _completions.Remove(completion.Group);
        if (waiting.Operation is Renew renew) _views.Remove(renew);
        return waiting.Operation;
    }

    /// <summary>
    /// Drops a view completion that no longer matters, since its group is in <paramref name="view"/> or over. A repeated install of an older view
    /// does not drop the completion that follows the current view.
    /// </summary>
    public void Forget(GroupId group, ulong view = ulong.MaxValue)
    {
        if (!_completions.TryGetValue(group, out ulong number)) return;
        if (_waiting.TryGetValue(number, out var waiting) && ((ViewCompletion)waiting.Operation).View >= view) return;
        _completions.Remove(group);
        _waiting.Remove(number);
    }

    /// <summary>Repeats the requests that are due.</summary>
    public void Step()
    {
        Collect();
        foreach (var waiting in _due)
        {
            // The leader may hold back a view completion for as long as a lease lasts; lease questions show whether the leader is there.
            if (waiting.Attempts > 1 && waiting.Operation is not ViewCompletion) directory.Doubt();
            Send(waiting);
        }
    }

    /// <summary>Another leader is known: all requests go to it, as many at once as a step sends, the rest with the next steps.</summary>
    public void Resend()
    {
        foreach (var (_, waiting) in _waiting) waiting.Due = Math.Min(waiting.Due, node.Now);
        Collect();
        foreach (var waiting in _due) Send(waiting);
    }

    /// <summary>Forgets the registration: the system that was asked for it is no longer this process's system.</summary>
    public void ForgetRegistration() => _waiting.Remove(Registration);

    public void Clear()
    {
        _waiting.Clear();
        _completions.Clear();
        _views.Clear();
        _recorded.Clear();
    }

    /// <summary>Whether a waiting view completion is newer than another one, or the same.</summary>
    private static bool Covers(ViewCompletion waiting, ViewCompletion other) => waiting.View != other.View ? waiting.View > other.View
        : waiting.Proposal != other.Proposal ? waiting.Proposal > other.Proposal : waiting.Initialised.SequenceEqual(other.Initialised);

    /// <summary>Collects the due requests that can be sent, as many as a step sends; the longest due first, so that each has its turn.</summary>
    private void Collect()
    {
        _due.Clear();
        foreach (var (_, waiting) in _waiting)
            if (waiting.Due <= node.Now && MaySend(waiting)) _due.Add(waiting);
        if (_due.Count <= PerStep) return;
        _due.Sort(static (one, other) => (one.Due, one.Number).CompareTo((other.Due, other.Number)));
        _due.RemoveRange(PerStep, _due.Count - PerStep);
    }

    private bool MaySend(Waiting waiting) => !directory.IsEmpty && (Self.Incarnation != 0 || waiting.Operation is Register);

    private void Send(Waiting waiting)
    {
        if (!MaySend(waiting)) return;
        waiting.Attempts++;
        waiting.Due = node.Now + Math.Min(LastRepeat, FirstRepeat * waiting.Attempts);
        ulong floor = _recorded.Count > 0 ? _recorded.First().Key : _last + 1;
        sender.Send(directory.Target(), new RequestFrame(new(Self, waiting.Number, floor, waiting.Operation)));
    }

    private sealed class Waiting(ulong number, Operation operation)
    {
        public ulong Number { get; } = number;

        public Operation Operation { get; } = operation;

        public long Due { get; set; }

        public int Attempts { get; set; }
    }
}
