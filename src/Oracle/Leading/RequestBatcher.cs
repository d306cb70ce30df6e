using GroupCore.Runtime;
using Oracle.State.Operations;

namespace Oracle.Leading;

/// <summary>
/// Requests on their way into the log. Joins, leaves and requests for a view wait up to 20 ms for more of them; all others go with the turn. One entry holds as many as fit, so
/// that requests that came together are one view change. Remembers where to answer, and skips repeats. Source: oracle.md#what-comes-together-is-one-entry.
/// </summary>
internal sealed class RequestBatcher(INode node)
{
    public const long GatherTime = 20 * Durations.Millisecond;
    private const int GatherMost = 256;
    // A view completion for each group in which the process may be, and the other requests that it may have waiting.
    private const int MaxPerProcess = Limits.GroupsPerProcess + Limits.RequestsPerProcess;
    private const int EntryOperations = 256;
    private readonly Dictionary<(ulong Node, ulong Number), int> _origins = [];
    private readonly Dictionary<ulong, int> _perNode = [];
    private readonly List<Request> _now = [];
    private readonly List<Request> _gathered = [];
    private readonly List<Request> _entry = [];

    /// <summary>When the gathered requests are due; <see cref="long.MaxValue"/> if there are none.</summary>
    public long Due { get; private set; } = long.MaxValue;

    public bool HasWork => _now.Count > 0 || _gathered.Count > 0;

    public void Clear()
    {
        _origins.Clear();
        _perNode.Clear();
        _now.Clear();
        _gathered.Clear();
        Due = long.MaxValue;
    }

    /// <summary>Number of requests whose senders wait for an answer.</summary>
    public int Waiting => _origins.Count;

    /// <summary>Notes a request. False when its process has too many, and when it repeats one under way; the answer then goes where the repeat came from.</summary>
    public bool TryBegin(Request request, int peer)
    {
        var key = Key(request);
        if (_origins.ContainsKey(key))
        {
            _origins[key] = peer;
            return false;
        }
        int waiting = _perNode.GetValueOrDefault(key.Node);
        if (waiting >= MaxPerProcess)
        {
            node.Counters.Refuse(RefusalReason.Unexpected);
            return false;
        }
        _origins[key] = peer;
        _perNode[key.Node] = waiting + 1;
        return true;
    }

    /// <summary>Forgets a request that is answered or dropped, and says where it came from; false when it did not come here.</summary>
    public bool TryEnd(Request request, out int peer)
    {
        var key = Key(request);
        if (!_origins.Remove(key, out peer)) return false;
        int waiting = _perNode[key.Node] - 1;
        if (waiting > 0) _perNode[key.Node] = waiting;
        else _perNode.Remove(key.Node);
        return true;
    }

    public void Add(Request request) => _now.Add(request);

    public void Gather(Request request)
    {
        _gathered.Add(request);
        Due = _gathered.Count >= GatherMost ? node.Now : Math.Min(Due, node.Now + GatherTime);
    }

    /// <summary>
    /// Appends the requests that are due and lists them in <paramref name="appended"/>. Requests that the log refuses are listed in
    /// <paramref name="refused"/> and forgotten: their senders repeat them.
    /// </summary>
    public void Append(Raft.Leader leader, List<Request> appended, List<Request> refused)
    {
        appended.Clear();
        refused.Clear();
        if (Due <= node.Now)
        {
            _now.AddRange(_gathered);
            _gathered.Clear();
            Due = long.MaxValue;
        }
        int at = 0;
        while (at < _now.Count)
        {
            _entry.Clear();
            while (at < _now.Count && _entry.Count < EntryOperations && (_entry.Count == 0 || !IsLarge(_now[at]))) _entry.Add(_now[at++]);
            if (leader.TryAppend(OperationCodec.WriteEntry(_entry)))
            {
                appended.AddRange(_entry);
                continue;
            }
            foreach (var request in _entry) TryEnd(request, out _);
            refused.AddRange(_entry);
        }
        _now.Clear();
    }

    private static bool IsLarge(Request request) => request.Operation is Create or Exclude or ViewCompletion { Initialised.Count: > 64 };

    private static (ulong Node, ulong Number) Key(Request request) =>
        request.Operation is Register register ? (register.Node, 0) : (request.Requester.Node, request.Number);
}
