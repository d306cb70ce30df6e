namespace GroupCore.Groups.State;

/// <summary>What a member without state may hold of a view until its state is loaded, in units of <see cref="GroupLimits.Cost"/>.</summary>
internal sealed class LoadBudget(long limit)
{
    private long _held;

    public bool IsUsed => _held >= limit;

    public void Take(long cost) => _held += cost;
}
