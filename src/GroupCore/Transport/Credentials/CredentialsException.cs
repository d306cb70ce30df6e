namespace GroupCore.Transport.Credentials;

/// <summary>Credentials cannot be used: a key that is not one, a file that cannot be read, a certificate without a name. The message names what is wrong and what is allowed, and never shows a secret.</summary>
public sealed class CredentialsException(string message, Exception? inner = null) : ArgumentException(message, inner);
