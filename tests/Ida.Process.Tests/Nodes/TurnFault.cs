namespace Ida.Process.Tests.Nodes;

/// <summary>Where in a turn something throws.</summary>
public enum TurnFault
{
    Command,
    Timer,
    EndOfTurn,
}
