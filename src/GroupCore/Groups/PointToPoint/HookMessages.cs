using GroupCore.Runtime;

namespace GroupCore.Groups.PointToPoint;

/// <summary>
/// Messages of other members' termination hooks that came before this member was wedged by their proposal. Hooks send within the window of a
/// receiver like any other code, so nothing that an honest hook sends exceeds the bound. Source: views-and-flush.md#hook-messages-wait-for-the-wedge.
/// </summary>
internal sealed class HookMessages(INode node, int members)
{
    private readonly List<(int Rank, byte[] Body)> _held = [];
    private long[] _cost = [];

    public void Hold(int rank, ReadOnlySpan<byte> body)
    {
        if (_cost.Length == 0) _cost = new long[members];
        if (_cost[rank] >= GroupLimits.EarlyBytesOfMember)
        {
            node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        _cost[rank] += GroupLimits.Cost(body.Length);
        _held.Add((rank, body.ToArray()));
    }

    /// <summary>Takes all of them; the caller holds again those whose proposal is still to come.</summary>
    public (int Rank, byte[] Body)[] Take()
    {
        if (_held.Count == 0) return [];
        var held = _held.ToArray();
        _held.Clear();
        Array.Clear(_cost);
        return held;
    }
}
