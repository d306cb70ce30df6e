namespace Ida;

/// <summary>This member's part in the DHT is over, or the whole DHT: no call has a chance any more. Join, or enable the DHT, again.</summary>
public abstract class DhtLostException(string message, Exception? inner = null) : DhtException(message, inner);
