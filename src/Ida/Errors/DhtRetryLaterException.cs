namespace Ida;

/// <summary>Nothing of the call was executed, nor will be, and the reason passes: the same call has a chance later.</summary>
public abstract class DhtRetryLaterException(string message, Exception? inner = null) : DhtException(message, inner);
