namespace GroupCore.Groups.State;

/// <summary>
/// What a member without state holds of each sender. Up to the budget it acknowledges what it receives: the others go on as if it had been delivered.
/// Beyond the budget it does not, which closes the senders' windows, and so bounds what is held.
/// </summary>
internal sealed class LoadHold(LoadBudget budget, int members)
{
    private readonly long[] _owed = new long[members];

    /// <summary>Messages held.</summary>
    public int Messages { get; private set; }

    /// <summary>Whether acknowledgements wait for the load.</summary>
    public bool StopsAcks => budget.IsUsed;

    /// <summary>Whether more has arrived from a sender than its windows let through.</summary>
    public bool IsFull(int sender) => _owed[sender] >= GroupLimits.StoredBytes;

    public void Add(int sender, int bytes)
    {
        long cost = GroupLimits.Cost(bytes);
        budget.Take(cost);
        _owed[sender] += cost;
        Messages++;
    }

    /// <summary>All that is held of a sender is acknowledged.</summary>
    public void Acknowledge(int sender) => _owed[sender] = 0;
}
