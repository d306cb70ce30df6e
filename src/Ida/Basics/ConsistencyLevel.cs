namespace Ida;

/// <summary>What an ordered operation promises. Source: dht-order.md#strict-and-ordered.</summary>
public enum ConsistencyLevel
{
    /// <summary>Strictly serializable: one order of all operations that also respects real time.</summary>
    Strict,

    /// <summary>
    /// Atomic and in one order, which need not respect real time: a put returns when its place in the order is fixed, and a read may miss a put that
    /// has returned. A read is serializable as long as no participant fails. When the member it read from dies or is excluded, an unstable
    /// put that it saw may get another place in the order, unless the other members knew the times of this put and of the puts that conflict
    /// with it. No put is lost or applied twice because of that.
    /// </summary>
    Ordered,
}
