namespace Ida.Testing.Checking;

/// <summary>What one process delivered in one view.</summary>
internal sealed class GroupDeliveries(GroupProcess process)
{
    private readonly HashSet<ulong> _set = [];

    public GroupProcess Process { get; } = process;

    /// <summary>All, in the order of delivery.</summary>
    public List<ulong> Order { get; } = [];

    /// <summary>The ordered ones.</summary>
    public List<ulong> Total { get; } = [];

    public bool Add(GroupMessage message)
    {
        if (!_set.Add(message.Id)) return false;
        Order.Add(message.Id);
        if (message.Kind == MulticastKind.Ordered) Total.Add(message.Id);
        return true;
    }

    public bool Contains(ulong message) => _set.Contains(message);

    /// <summary>The first of <paramref name="messages"/> that was not delivered here.</summary>
    public ulong? FirstMissing(IEnumerable<ulong> messages)
    {
        foreach (ulong message in messages)
            if (!_set.Contains(message)) return message;
        return null;
    }

    /// <summary>The first position before <paramref name="length"/> at which the orders differ, −1 when there is none.</summary>
    public int FirstDifference(GroupDeliveries other, int length)
    {
        for (int at = 0; at < length; at++)
            if (at >= Total.Count || at >= other.Total.Count || Total[at] != other.Total[at]) return at;
        return -1;
    }
}
