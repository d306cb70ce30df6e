namespace Ida.Testing.Checking;

/// <summary>A checker found a violation; the message lists what.</summary>
public sealed class ConsistencyViolationException(string message) : Exception(message);
