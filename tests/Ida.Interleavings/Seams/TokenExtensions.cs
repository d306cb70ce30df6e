namespace Ida.Interleavings.Seams;

/// <summary>What the weaver calls in place of <see cref="CancellationToken.UnsafeRegister(Action{object}, object)"/>.</summary>
internal static class TokenExtensions
{
    public static RegistrationSeam RegisterSeam(this CancellationToken token, Action<object?> callback, object? state) => TokenSeam.Of(token).Register(_ => callback(state));

    public static RegistrationSeam RegisterSeam(this CancellationToken token, Action<object?, CancellationToken> callback, object? state) => TokenSeam.Of(token).Register(fired => callback(state, fired));
}
