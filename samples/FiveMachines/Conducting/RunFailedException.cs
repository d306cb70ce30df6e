namespace FiveMachines.Conducting;

/// <summary>Something did not come about; the message says what.</summary>
internal sealed class RunFailedException(string message) : Exception(message);
