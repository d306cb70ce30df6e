namespace Ida;

/// <summary>Nothing of the call was executed, nor will be. It may be called again, and may fail again for the same reason.</summary>
public abstract class DhtNotExecutedException(string message, Exception? inner = null) : DhtException(message, inner);
