namespace GroupCore.Transport.Credentials;

/// <summary>Stands in for the real one: there are no credentials here.</summary>
internal sealed class NodeCredentials;
