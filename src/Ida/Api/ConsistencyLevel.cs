namespace Ida;

/// <summary>What an ordered operation promises. Source: ida 2.3, 2.6.</summary>
public enum ConsistencyLevel
{
    /// <summary>Strictly serializable: one order of all operations that also respects real time.</summary>
    Strict,

    /// <summary>Serializable and atomic, but not ordered in real time: a put returns when its place in the order is fixed, a read may miss a put that has returned.</summary>
    Ordered,
}
