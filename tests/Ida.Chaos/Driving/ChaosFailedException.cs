namespace Ida.Chaos.Driving;

/// <summary>The run cannot go on: something hangs, or ended on its own.</summary>
internal sealed class ChaosFailedException(string message) : Exception(message);
