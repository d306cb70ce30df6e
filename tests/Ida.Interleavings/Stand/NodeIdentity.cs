namespace GroupCore.Transport.Credentials;

/// <summary>Stands in for the real one: nobody shows who it is here.</summary>
internal sealed record NodeIdentity(string Name);
