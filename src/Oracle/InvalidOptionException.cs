namespace Oracle;

/// <summary>An option is out of range; the message names it and what is allowed.</summary>
public sealed class InvalidOptionException(string message) : ArgumentException(message);
