using System.Buffers.Binary;
using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Wire;

namespace GroupCore.Groups.PointToPoint;

/// <summary>
/// Answers of this member to queries. They go out in any view (multicast.md#answers-may-cross-views), and wait for room on the link to the asker.
/// On the loop; lives as long as the membership.
/// </summary>
internal sealed class ReplyQueue(IViewMember group)
{
    /// <summary>query u64, status u8, bytes.</summary>
    private const int Head = 9;
    private View? _view;
    private bool _over;
    // By rank in this view.
    private Queue<ReplyOperation>?[] _replies = [];
    private int _waiting;
    private long _costWaiting;

    /// <summary>Answers that wait for room.</summary>
    public int Count => _waiting;

    /// <summary>An answer from the worker. False while it waits for room.</summary>
    public bool Send(ReplyOperation reply)
    {
        group.Touch();
        if (_over || _view is null) return true;
        int rank = _view.RankOf(reply.To), length = Head + reply.Payload.Length;
        if (rank < 0) return true;
        if (length > GroupLimits.PeerBytes) reply.Abort($"the reply has {reply.Payload.Length} bytes; at most {GroupLimits.PeerBytes - Head} are allowed");
        if (rank == group.Rank)
        {
            group.Queries.OnReply(reply.To, reply.Query, reply.Status, reply.Payload.Written);
            return true;
        }
        if (group.Links.RoomTo(rank) <= 0 && TryKeep(reply, rank)) return false;
        var frame = group.Links.Frame(FrameType.Reply, Head + reply.Payload.Length);
        BinaryPrimitives.WriteUInt64LittleEndian(frame, reply.Query);
        frame[8] = (byte)reply.Status;
        reply.Payload.Written.CopyTo(frame[Head..]);
        group.Links.SendTo(rank);
        return true;
    }

    // False when too many answers wait: then this one becomes a refusal, which is small and does not wait.
    private bool TryKeep(ReplyOperation reply, int rank)
    {
        long cost = GroupLimits.Cost(reply.Payload.Length);
        if (_costWaiting + cost > GroupLimits.QueuedBytes)
        {
            reply.Abort($"{_waiting} answers already wait at this member; together they may have at most {GroupLimits.QueuedBytes} bytes");
            return false;
        }
        if (_replies.Length == 0) _replies = new Queue<ReplyOperation>?[_view!.Members.Count];
        (_replies[rank] ??= new()).Enqueue(reply);
        _waiting++;
        _costWaiting += cost;
        return true;
    }

    /// <summary>The link to a member has room again.</summary>
    public void OnRoom(int rank)
    {
        if (_waiting == 0 || _replies[rank] is not { } waiting) return;
        while (group.Links.RoomTo(rank) > 0 && waiting.TryDequeue(out var reply))
        {
            _waiting--;
            _costWaiting -= GroupLimits.Cost(reply.Payload.Length);
            reply.Run();
        }
    }

    /// <summary>There is another view: answers that wait look for their receivers again.</summary>
    public void OnView(View view)
    {
        _view = view;
        SendAll();
    }

    /// <summary>The membership is over: nothing is answered any more.</summary>
    public void Close()
    {
        _over = true;
        SendAll();
    }

    private void SendAll()
    {
        var replies = _replies;
        // Even if no answer waits: the ranks are those of a view that is over.
        (_replies, _waiting, _costWaiting) = ([], 0, 0);
        foreach (var waiting in replies)
            while (waiting is not null && waiting.TryDequeue(out var reply)) reply.Run();
    }
}
