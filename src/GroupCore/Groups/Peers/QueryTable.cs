using System.Buffers.Binary;
using GroupCore.Groups.Dispatch;
using GroupCore.Membership;
using GroupCore.Runtime;

namespace GroupCore.Groups.Peers;

/// <summary>The queries of this process in one group that are not complete. Lives as long as the group: answers may come views later.</summary>
internal sealed class QueryTable(INode node)
{
    private readonly SortedDictionary<ulong, QueryCollector> _open = [];

    public int Count => _open.Count;

    public void Add(QueryCollector query)
    {
        query.Table = this;
        // The turn may have begun before a freeze of the process, and the call be made after it.
        if (TimeLimit.Due(node.Clock(), query.Timeout) is < TimeLimit.Never and var due) query.Timer = node.SetTimer(due, query, 0);
        _open.Add(query.Number, query);
    }

    public void Remove(QueryCollector query)
    {
        node.CancelTimer(query.Timer);
        _open.Remove(query.Number);
    }

    public bool IsOpen(ulong number) => _open.ContainsKey(number);

    /// <summary>Its caller does not wait any more.</summary>
    public void Cancel(ulong number, CancellationToken by)
    {
        if (_open.TryGetValue(number, out var query)) query.Fail(new OperationCanceledException(by));
    }

    public void OnDelivered(ulong number, View view)
    {
        if (_open.TryGetValue(number, out var query)) query.OnDelivered(view);
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

    public void OnView(View view)
    {
        foreach (var query in _open.Values.ToArray()) query.OnView(view);
    }

    /// <summary>The link to a member was lost, and its answers with it.</summary>
    public void OnLinkLost(ProcessId member)
    {
        foreach (var query in _open.Values.ToArray()) query.OnLinkLost(member);
    }

    public void FailAll(Exception error)
    {
        foreach (var query in _open.Values.ToArray()) query.Fail(error);
    }
}
