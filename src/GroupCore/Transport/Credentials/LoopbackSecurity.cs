namespace GroupCore.Transport.Credentials;

/// <summary>No credentials.</summary>
internal sealed class LoopbackSecurity : Security
{
    internal override NodeCredentials? Open(string cluster) => null;
}
