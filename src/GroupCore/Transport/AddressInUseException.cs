namespace GroupCore.Transport;

/// <summary>The address a node was asked to listen at is taken by another process or node.</summary>
public sealed class AddressInUseException(string address)
    : IOException($"Cannot listen at {address}: the port is in use. Choose another one, or port 0 for any that is free.");
