using GroupCore.Basics;
using GroupCore.Transport;

namespace GroupCore.Groups.Calls;

/// <summary>
/// The calls of one group, and their bytes, that are on the way to the loop or wait there. A call is counted on any thread before it is posted, and returned on the
/// loop when it is sent or has failed. What goes beyond the group's own part is taken, in blocks, from what the node may hold for all groups and links.
/// </summary>
internal sealed class CallBudget(string group, NodeBacklog? node)
{
    private const long Block = GroupLimits.QueuedBlock;
    private readonly Lock _gate = new();
    private CallLoad _load = new();
    // Bytes, in whole blocks: the first is the group's own, the others are taken from what the node may hold.
    private long _granted = Block;

    private enum Refusal
    {
        None, Group, Receiver, Node,
    }

    public int Calls => _load.Calls;

    public long Bytes => _load.Bytes;

    /// <summary>Counts a call; a point-to-point call is counted in its receiver's share too.</summary>
    /// <exception cref="SendQueueFullException">Too much waits already; nothing is counted.</exception>
    public void Take(int bytes, PeerShare? receiver, bool canWait)
    {
        var (calls, held) = _load.Add(bytes);
        var refusal = calls > GroupLimits.QueuedCalls || held > GroupLimits.QueuedBytes ? Refusal.Group
            : receiver?.TryTake(bytes, canWait, GroupLimits.QueuedCalls - calls, GroupLimits.QueuedBytes - held) == false ? Refusal.Receiver
            : held > Volatile.Read(ref _granted) && !TryGrow() ? Refusal.Node : Refusal.None;
        if (refusal == Refusal.None) return;
        if (refusal == Refusal.Node) TakeBack(bytes, receiver);
        else _load.Remove(bytes);
        throw refusal switch
        {
            Refusal.Receiver => receiver!.Full(group, bytes, canWait),
            Refusal.Node => new SendQueueFullException(group, Calls, $"{Calls} calls with {Bytes} bytes already wait to send to group '{group}', and this node has reached its limit of bytes for all groups and links: await them before you send more.") { RetryAfter = node!.TimeToCalls(bytes) },
            _ => new SendQueueFullException(group, Calls, $"{Calls} calls with {Bytes} bytes already wait to send to group '{group}': await them before you send more.") { RetryAfter = _load.TimeToRoom(bytes) },
        };
    }

    /// <summary>Returns a call that the loop did not take.</summary>
    public void TakeBack(int bytes, PeerShare? receiver)
    {
        _load.Remove(bytes);
        receiver?.TakeBack(bytes);
        Shrink();
    }

    /// <summary>Returns a call that was sent or has failed; on the loop.</summary>
    public void Return(int bytes, PeerShare? receiver, long now)
    {
        _load.End(bytes, now);
        receiver?.Return(bytes, now);
        Shrink();
    }

    /// <summary>The error for one query too many.</summary>
    public SendQueueFullException TooManyQueries() => new(group, GroupLimits.Queries, $"{GroupLimits.Queries} queries of group '{group}' are open already: await them before you ask more.") { RetryAfter = _load.TimeToRoom(0) };

    private bool TryGrow()
    {
        using (_gate.Hold())
        {
            long more = (Bytes - _granted + Block - 1) / Block * Block;
            if (more > 0 && node?.TryTakeForCalls(more) == false) return false;
            if (more > 0) Volatile.Write(ref _granted, _granted + more);
            return true;
        }
    }

    // At rest all but the first block is returned. Until then one block more than is used stays, so that a group at a bound does not take and return it with each call.
    private void Shrink()
    {
        if (Volatile.Read(ref _granted) == Block || Needed() >= Volatile.Read(ref _granted)) return;
        using (_gate.Hold())
        {
            var (had, needed) = (_granted, Needed());
            if (needed >= had) return;
            Interlocked.Exchange(ref _granted, needed);
            // A thread that counted a call meanwhile may have seen the earlier grant.
            if (Bytes > needed) Volatile.Write(ref _granted, had);
            else node?.ReturnOfCalls(had - needed);
        }
    }

    private long Needed() => Bytes <= Block / 2 ? Block : (((Bytes + Block - 1) / Block) + 1) * Block;
}
