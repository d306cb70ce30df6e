using GroupCore.Groups.State;
using GroupCore.Runtime;

namespace GroupCore.Groups.Peers;

/// <summary>Point-to-point messages to a member without state (R15): what it holds of them until the state is loaded, and which are acknowledged.</summary>
internal sealed class UnloadedMessages(INode node, LoadBudget budget, int members)
{
    private readonly LoadHold _hold = new(budget, members);
    private readonly Queue<Message> _messages = new();

    /// <summary>Holds a message; true when it is to be acknowledged at once, since the budget has room for it.</summary>
    public bool Add(in Handling handling, int from, ulong query, uint handler, ReadOnlySpan<byte> payload)
    {
        bool acknowledged = !_hold.StopsAcks;
        if (!acknowledged && _hold.IsFull(from))
        {
            // Not what a window lets through.
            node.Counters.Refuse(RefusalReason.Unexpected);
            return false;
        }
        _hold.Add(from, payload.Length);
        if (acknowledged) _hold.Acknowledge(from);
        _messages.Enqueue(new(handling, from, acknowledged, query, handler, payload.ToArray()));
        return acknowledged;
    }

    public bool TryTake(out Message message) => _messages.TryDequeue(out message);

    public readonly record struct Message(Handling Handling, int From, bool Acknowledged, ulong Query, uint Handler, byte[] Payload);
}
