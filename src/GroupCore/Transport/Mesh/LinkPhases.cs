namespace GroupCore.Transport.Mesh;

/// <summary>
/// The allowed steps of a link and of a connection from phase to phase. A forbidden step is a defect of this library: it throws in tests; otherwise it is
/// counted and not taken (<see cref="Runtime.NodeCounters.Forbid"/>).
/// </summary>
internal static class LinkPhases
{
    public static bool MayFollow(LinkPhase from, LinkPhase to) => from switch
    {
        LinkPhase.Down => to is LinkPhase.Dialling or LinkPhase.Up or LinkPhase.Ended,
        LinkPhase.Dialling => to is LinkPhase.Down or LinkPhase.Up or LinkPhase.Ended,
        LinkPhase.Up => to is LinkPhase.Down or LinkPhase.Ended,
        _ => false,
    };

    public static bool MayFollow(ConnectionState from, ConnectionState to) => from switch
    {
        ConnectionState.Connecting => to is ConnectionState.AwaitAck or ConnectionState.Closed,
        ConnectionState.AwaitHello => to is ConnectionState.AwaitFullHello or ConnectionState.Up or ConnectionState.Closing or ConnectionState.Closed,
        ConnectionState.AwaitFullHello => to is ConnectionState.Up or ConnectionState.Closing or ConnectionState.Closed,
        ConnectionState.AwaitAck => to is ConnectionState.AwaitFullAck or ConnectionState.Up or ConnectionState.Closed,
        ConnectionState.AwaitFullAck => to is ConnectionState.Up or ConnectionState.Closed,
        ConnectionState.Up or ConnectionState.Closing => to is ConnectionState.Closed,
        _ => false,
    };
}
