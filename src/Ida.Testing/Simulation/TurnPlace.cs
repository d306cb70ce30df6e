namespace Ida.Testing;

/// <summary>Where in a turn something throws.</summary>
internal enum TurnPlace
{
    /// <summary>In a caller's command.</summary>
    Command,

    /// <summary>In a timer.</summary>
    Timer,

    /// <summary>At the end of the turn.</summary>
    EndOfTurn,
}
