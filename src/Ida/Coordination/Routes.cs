using Ida.Maps;
using Ida.Placement;

namespace Ida.Coordination;

/// <summary>
/// Which members an operation asks, and whether something can be sent to them now: their links have room, and what they need is agreed. Source: dht-order.md#limits.
/// </summary>
internal sealed class Routes(DhtState state)
{
    private readonly RoomHold _hold = new();
    private readonly List<int> _asked = [];

    /// <summary>Gives an attempt its participants; false where a shard has no member that can answer.</summary>
    public bool TryFindParticipants(ClientOperation op, CoordinatedOperation running, ShardMap map)
    {
        int shard = -1;
        for (int i = 0; i < op.PartCount; i++)
        {
            if (op.Parts[i].Shard == shard) continue;
            shard = op.Parts[i].Shard;
            if (op.Kind.Changes)
            {
                foreach (ushort slot in map.Members(shard)) running.Add(slot);
                continue;
            }
            int representative = Representative(map, shard, op.Parts[i].Place);
            if (representative < 0) return false;
            running.Add((ushort)representative);
        }
        return true;
    }

    /// <summary>This member's slot if it can answer, else that of an initialised member; without the rule, that of any member.</summary>
    public int Representative(ShardMap map, int shard, ulong place)
    {
        if (state.Initialised && shard == state.Shard) return state.Slot;
        if (!state.Rules.OnlyInitialisedAnswers) return map.Members(shard)[^1];
        return map.Representative(shard, (uint)(state.Rank + (int)((place * 0x9E3779B97F4A7C15) >> 48)));
    }

    /// <summary>A map or resolver that the operation uses and a member lacks; null if all members have everything.</summary>
    public Declared? Lacking(ClientOperation op)
    {
        for (int i = 0; i < op.PartCount && !state.Maps.AllAgreed; i++)
            if (op.Parts[i].Uses.LackedBy is not null) return op.Parts[i].Uses;
        return null;
    }

    /// <summary>
    /// A member that has to be asked and to which nothing can be sent now, because its link has no room or it has not installed the view; −1
    /// if there is none. The member for which the operation already waits comes first.
    /// </summary>
    public int BlockedBy(ClientOperation op, ShardMap map)
    {
        if (op.RetryAt == ClientOperation.AwaitsRoom && op.Awaits >= 0 && !HasRoom(op, op.Awaits)) return op.Awaits;
        FindAsked(op, map);
        foreach (int rank in _asked)
            if (!HasRoom(op, rank)) return rank;
        return -1;
    }

    private void FindAsked(ClientOperation op, ShardMap map)
    {
        _asked.Clear();
        int shard = -1;
        for (int i = 0; i < op.PartCount; i++)
        {
            if (op.Parts[i].Shard == shard) continue;
            shard = op.Parts[i].Shard;
            if (op.Kind.Changes)
            {
                foreach (ushort slot in map.Members(shard)) AddAsked(map.RankOfSlot(slot));
            }
            else if (Representative(map, shard, op.Parts[i].Place) is >= 0 and var slot)
            {
                AddAsked(map.RankOfSlot(slot));
            }
        }
    }

    private void AddAsked(int rank)
    {
        if (rank != state.Rank) _asked.Add(rank);
    }

    private bool HasRoom(ClientOperation op, int rank) => !_hold.KeepsFrom(op, rank) && HasRoom(rank);

    public bool HasRoom(int rank) => rank == state.Rank || state.Port.Room(rank) > 0;

    /// <summary>
    /// An operation waits for room on a member's link. Where it waited for another's before, which has come and may be gone when this one's comes, it keeps the room of all that it needs.
    /// </summary>
    public void Hold(ClientOperation op, int rank)
    {
        if (op.RetryAt == ClientOperation.AwaitsRoom && op.Awaits >= 0 && op.Awaits != rank && _hold.MayBegin(state.Node.Now)) _hold.Begin(op, _asked, state.Node.Now);
    }

    /// <summary>The operation was sent, or has ended; true where it held room.</summary>
    public bool EndHold(ClientOperation op) => _hold.End(op, state.Node.Now);

    /// <summary>Whether room was held for long enough, and is free now.</summary>
    public bool EndLongHold(long now)
    {
        if (!_hold.IsOver(now)) return false;
        _hold.End(now);
        return true;
    }

    /// <summary>No room is held.</summary>
    public void EndHold() => _hold.End(state.Node.Now);
}
