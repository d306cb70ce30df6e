namespace GroupCore.Transport.Mesh;

/// <summary>What carries the gathered writes of a session.</summary>
internal enum LinkCarrier
{
    /// <summary>A connection: bytes arrive in order or the connection breaks. Nothing is sent twice while it holds.</summary>
    Connection,

    /// <summary>Whole writes that may be lost, duplicated or reordered, as in simulation: they are sent again by a timer and at the receiver's request.</summary>
    Datagrams,
}
