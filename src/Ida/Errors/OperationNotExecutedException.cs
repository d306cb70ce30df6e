namespace Ida;

/// <summary>The operation had no effect and will have none.</summary>
public sealed class OperationNotExecutedException(string message) : DhtNotExecutedException(message);
