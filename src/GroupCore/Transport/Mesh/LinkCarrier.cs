namespace GroupCore.Transport.Mesh;

/// <summary>What carries the gathered writes of a session.</summary>
internal enum LinkCarrier
{
    /// <summary>A connection: bytes arrive in order or the connection breaks. Nothing is sent twice while it holds.</summary>
    Connection,

    /// <summary>Whole writes that may be lost, doubled or overtaken, as in simulation: a timer and requests of the receiver send again.</summary>
    Datagrams,
}
