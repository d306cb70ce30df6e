namespace Ida;

/// <summary>Base of everything the DHT reports.</summary>
public class DhtException(string message, Exception? inner = null) : Exception(message, inner);
