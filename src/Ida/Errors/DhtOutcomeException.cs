namespace Ida;

/// <summary>The put was executed in part, or may have been: find out what became of it, by its id or by reading its keys.</summary>
public abstract class DhtOutcomeException(string message, Exception? inner = null) : DhtException(message, inner);
