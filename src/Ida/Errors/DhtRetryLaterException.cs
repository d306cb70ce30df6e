namespace Ida;

/// <summary>Nothing of the call was executed, nor will be, but the reason is temporary: the same call may succeed later.</summary>
public abstract class DhtRetryLaterException(string message, Exception? inner = null) : DhtException(message, inner);
