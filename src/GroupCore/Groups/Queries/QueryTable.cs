using System.Buffers.Binary;
using GroupCore.Basics;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.Queries;

/// <summary>The queries of this process in one group that are not complete. Lives as long as the membership: answers may come views later.</summary>
internal sealed class QueryTable(INode node, Action givenUp)
{
    private readonly SortedDictionary<ulong, QueryCollector> _open = [];

    public int Count => _open.Count;

    /// <summary>What the answers of open queries take.</summary>
    public long HeldBytes { get; private set; }

    /// <summary>Counts an answer of a query that holds <paramref name="held"/> bytes already; false when that is too much and other queries hold something too.</summary>
    public bool TryHold(int bytes, long held)
    {
        if (HeldBytes + bytes > GroupLimits.AnswerBytes && HeldBytes > held) return false;
        HeldBytes += bytes;
        return true;
    }

    public void Add(QueryCollector query)
    {
        query.Table = this;
        // Not the turn's time: the process may have been frozen between the start of the turn and the call.
        if (TimeLimit.Due(node.Clock(), query.Timeout) is < TimeLimit.Never and var due) query.Timer = node.SetTimer(due, query, 0);
        _open.Add(query.Number, query);
    }

    public void Remove(QueryCollector query)
    {
        node.CancelTimer(query.Timer);
        HeldBytes -= query.HeldBytes;
        _open.Remove(query.Number);
    }

    public bool IsOpen(ulong number) => _open.ContainsKey(number);

    /// <summary>The caller of a query does not wait any more.</summary>
    public void Cancel(ulong number, CancellationToken by)
    {
        if (_open.TryGetValue(number, out var query)) query.Fail(new OperationCanceledException(by));
    }

    public void OnDelivered(ulong number, View view)
    {
        if (_open.TryGetValue(number, out var query)) query.OnDelivered(view);
    }

    public void OnSent(ulong number)
    {
        if (_open.TryGetValue(number, out var query)) query.OnSent();
    }

    public void Fail(ulong number, Exception error)
    {
        if (_open.TryGetValue(number, out var query)) query.Fail(error);
    }

    /// <summary>query u64, status u8, bytes.</summary>
    public void OnReply(ProcessId from, ReadOnlySpan<byte> body)
    {
        if (body.Length < 9 || body[8] > (byte)ReplyStatus.Abort)
        {
            node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        OnReply(from, BinaryPrimitives.ReadUInt64LittleEndian(body), (ReplyStatus)body[8], body[9..]);
    }

    /// <summary>A reply to a query that is over is dropped.</summary>
    public void OnReply(ProcessId from, ulong number, ReplyStatus status, ReadOnlySpan<byte> bytes)
    {
        if (_open.TryGetValue(number, out var query)) query.OnReply(from, status, bytes);
    }

    /// <summary>A view ends without these members; its last deliveries come next.</summary>
    public void OnFailed(IReadOnlyList<ProcessId> failed)
    {
        if (failed.Count == 0) return;
        foreach (var query in _open.Values) query.OnFailed(failed);
    }

    public void OnView(View view) => GiveUp(view, static (query, view) => query.OnView(view));

    /// <summary>The time of a query is over. Its message, if it still waits, need not be sent.</summary>
    public void OnTimeOver(QueryCollector query, Exception error)
    {
        query.Fail(error);
        givenUp();
    }

    /// <summary>The link to a member was lost in a view, and its answers with it.</summary>
    public void OnLinkLost(ProcessId member, ulong view) => GiveUp((member, view), static (query, lost) => query.OnLinkLost(lost.member, lost.view));

    private void GiveUp<TReason>(TReason reason, Action<QueryCollector, TReason> tell)
    {
        int open = _open.Count;
        foreach (var query in _open.Values.ToArray()) tell(query, reason);
        if (_open.Count != open) givenUp();
    }

    public void FailAll(Exception error)
    {
        foreach (var query in _open.Values.ToArray()) query.Fail(error);
    }
}
