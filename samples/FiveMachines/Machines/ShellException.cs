namespace FiveMachines.Machines;

/// <summary>A program that was needed is missing or failed; the message says which, and how.</summary>
internal sealed class ShellException(string message) : Exception(message);
