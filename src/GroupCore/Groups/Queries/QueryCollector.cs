using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.Queries;

/// <summary>
/// The answers to one query. It asks the members of the view in which the query is delivered at the asker. A member that is excluded or leaves is no longer asked, nor is a
/// member that does not load the state within that view: its handlers never see that view. A majority counts the members that had the state when that view began: no load
/// is waited for, and any two majorities share a member. Source: multicast.md#a-query-asks-the-members-of-its-view,
/// #a-majority-is-of-initialised-members.
/// </summary>
internal sealed class QueryCollector(ulong number, string handler, int code, TimeSpan timeout, IQueryResult result, IEqualityComparer<ProcessId>? ids = null) : ITimerTarget
{
    private const int Majority = -1;
    // Overhead of an answer, on top of its bytes.
    private const int ReplyCost = 64;
    private readonly List<(ProcessId From, ReplyStatus Status, byte[] Bytes)> _replies = [];
    // By rank in the view in which it asks. Null before that view is known: then all members that answer are noted.
    private Asked[]? _asked;
    private HashSet<ProcessId>? _early;
    private int _outstanding;
    private List<(ProcessId Member, ulong View)>? _lost;
    private View? _view;
    private bool _multicast;
    private bool _sent;
    private int _majority;
    private int _values;
    private bool _over;

    public ulong Number { get; } = number;

    /// <summary>What its answers take.</summary>
    public long HeldBytes { get; private set; }

    public QueryTable? Table { get; set; }

    public TimerHandle Timer { get; set; }

    public TimeSpan Timeout { get; } = timeout;

    public void OnDelivered(View view)
    {
        (_view, _multicast) = (view, true);
        _asked = new Asked[view.Members.Count];
        for (int rank = 0; rank < _asked.Length; rank++)
        {
            if (code == Majority && !view.Members[rank].Initialised) continue;
            _asked[rank] = Asked.Yes;
            _outstanding++;
        }
        _majority = (_outstanding / 2) + 1;
        // Others may deliver an ordered query, and answer it, before the asker delivers it and knows which members it asks.
        _replies.RemoveAll(reply => !TryAnswer(reply.From));
        _values = _replies.Count(static reply => reply.Status == ReplyStatus.Value);
        _early = null;
        foreach (var (member, lostIn) in _lost ?? []) OnLinkLost(member, lostIn);
        Check();
    }

    /// <summary>A query to one member.</summary>
    public void Expect(ProcessId member, View view)
    {
        _view = view;
        _asked = new Asked[view.Members.Count];
        _asked[view.RankOf(member)] = Asked.Yes;
        _outstanding = 1;
    }

    /// <summary>A query to one member is on the link to it.</summary>
    public void OnSent() => _sent = true;

    /// <summary>Notes that a member has answered; false when it is not asked, or has answered before.</summary>
    private bool TryAnswer(ProcessId member)
    {
        int rank = _view!.RankOf(member);
        if (rank < 0 || _asked![rank] != Asked.Yes) return false;
        _asked[rank] = Asked.Answered;
        _outstanding--;
        return true;
    }

    private void Drop(int rank)
    {
        _asked![rank] = Asked.No;
        _outstanding--;
    }

    /// <summary>An answer; false when nobody asked for it.</summary>
    public bool OnReply(ProcessId from, ReplyStatus status, ReadOnlySpan<byte> bytes)
    {
        if (_over || !(_asked is null ? (_early ??= new(ids)).Add(from) : TryAnswer(from))) return false;
        _replies.Add((from, status, bytes.ToArray()));
        if (status == ReplyStatus.Value) _values++;
        Check();
        // Only an answer that waits for others needs room.
        if (_over || Table is null) return true;
        int cost = ReplyCost + bytes.Length;
        if (Table.TryHold(cost, HeldBytes)) HeldBytes += cost;
        else Fail(new TooFewRepliesException(handler, code > 0 ? code : code == Majority && _asked is not null ? _majority : _replies.Count + _outstanding, _values, $"answers of {Table.HeldBytes} bytes wait at this process for those of other members"));
        return true;
    }

    /// <summary>
    /// Called before the last deliveries of a view. Answers of excluded members to a query that was not delivered here yet do not count: an excluded sequencer may have
    /// ordered the query before messages that the survivors, which do not know that order, deliver first.
    /// </summary>
    public void OnFailed(IReadOnlyList<ProcessId> failed)
    {
        if (_early is not null) _replies.RemoveAll(reply => failed.Contains(reply.From) && _early.Remove(reply.From));
    }

    /// <summary>In another view members that are gone are no longer asked. The view after the query's also tells which members loaded the state in time for it.</summary>
    public void OnView(View view)
    {
        if (_asked is null || _over) return;
        bool next = _multicast && view.Id == _view!.Id + 1;
        for (int rank = 0; rank < _asked.Length; rank++)
        {
            var member = _view!.Members[rank];
            if (_asked[rank] == Asked.Yes && (view.RankOf(member.Id) < 0 || (next && !member.Initialised && !IsInitialised(member.Id, view)))) Drop(rank);
        }
        Check();
    }

    private static bool IsInitialised(ProcessId id, View view) => view.Members[view.RankOf(id)].Initialised;

    /// <summary>
    /// The answer of a living member may be lost with its link. A query that wants all answers then fails. If the query is not delivered here yet, the loss
    /// is judged at its delivery, if that is in the same view. A query to one member that still waits to be sent goes over the next link.
    /// </summary>
    public void OnLinkLost(ProcessId member, ulong view)
    {
        if (_asked is not null && !_multicast && !_sent) return;
        if (_asked is null) (_lost ??= []).Add((member, view));
        if (_asked is null || (_multicast && view < _view!.Id) || _over) return;
        int rank = _view!.RankOf(member);
        if (rank < 0 || _asked[rank] != Asked.Yes) return;
        Drop(rank);
        if (code == 0) Fail(new TooFewRepliesException(handler, _replies.Count + _outstanding + 1, _values, "the link to a member was lost"));
        else Check();
    }

    public void Fail(Exception error)
    {
        if (_over) return;
        Finish();
        result.Fail(error);
    }

    void ITimerTarget.OnTimer(long token)
    {
        var missing = new List<string>();
        for (int rank = 0; rank < _asked?.Length; rank++)
            if (_asked[rank] == Asked.Yes) missing.Add(_view!.Members[rank].Address.ToString());
        string who = _asked is not null ? string.Join(", ", missing) : $"{(_replies.Count == 0 ? "any member" : "other members")}: this process has not delivered the query yet";
        Table!.OnTimeOver(this, new QueryTimeoutException(handler, Timeout, _values, who));
    }

    private void Check()
    {
        if (_asked is null || _over) return;
        int wanted = code switch { 0 => int.MaxValue, Majority => _majority, _ => code };
        if (wanted == int.MaxValue ? _outstanding == 0 : _values >= wanted) Succeed(all: wanted == int.MaxValue);
        else if (wanted != int.MaxValue && _values + _outstanding < wanted)
            Fail(new TooFewRepliesException(handler, wanted, _values, _outstanding == 0 ? "no member is left to answer" : "too few of the remaining members can still answer with a value"));
    }

    private void Succeed(bool all)
    {
        Finish();
        var values = new List<(MemberRef From, byte[] Bytes)>();
        _replies.Sort((a, b) => _view!.RankOf(a.From).CompareTo(_view.RankOf(b.From)));
        foreach (var (from, status, bytes) in _replies)
        {
            int rank = _view!.RankOf(from);
            if (rank < 0) continue;
            if (status == ReplyStatus.Abort && all)
            {
                result.Fail(new QueryAbortedException(handler, NameOf(from), System.Text.Encoding.UTF8.GetString(bytes)));
                return;
            }
            if (status == ReplyStatus.Value) values.Add((new(rank, _view.Members[rank]), bytes));
        }
        result.Succeed(values);
    }

    private string NameOf(ProcessId id)
    {
        int rank = _view!.RankOf(id);
        return rank < 0 ? id.ToString() : _view.Members[rank].Address.ToString();
    }

    private void Finish()
    {
        _over = true;
        Table?.Remove(this);
    }

    private enum Asked : byte
    {
        No,
        Yes,
        Answered,
    }
}
