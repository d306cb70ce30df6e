namespace GroupCore.Transport.Secure;

/// <summary>Stands in for the real one: there are no credentials here.</summary>
internal sealed class Credentials;
