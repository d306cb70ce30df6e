namespace Ida.Interleavings.Seams;

/// <summary>A <see cref="CancellationTokenRegistration"/>.</summary>
internal readonly struct RegistrationSeam(TokenSeam? token, TokenSeam.Entry? entry) : IDisposable
{
    public bool Unregister() => token is not null && token.Unregister(entry!);

    public void Dispose() => token?.Dispose(entry!);
}
