namespace GroupCore.Transport;

/// <summary>
/// A node was asked to listen beyond loopback without credentials. Anybody who can reach the port of a node without credentials is taken for a
/// member, so only loopback addresses are allowed. Source: links.md#beyond-the-loopback-only-with-credentials.
/// </summary>
public sealed class InsecureBindException(string address)
    : InvalidOperationException($"Refused to listen at {address} without credentials: only loopback addresses (127.0.0.0/8, [::1]) are allowed.");
