using GroupCore.Basics;

namespace Ida;

/// <summary>
/// Code that the program gave the DHT threw in the caller's own call: a serializer, the contract of a type, or a hash. If it threw before
/// sending, the call is not executed; if it threw while making the result of a read, nothing was changed.
/// </summary>
public sealed class UserCodeException(string what, string map, string key, Exception inner)
    : DhtMisuseException($"{what} threw for the key {key} of the map \"{map}\": {UserError.Text(inner)}", inner)
{
    private const int KeyChars = 100;

    /// <summary>The map.</summary>
    public string Map { get; } = map;

    /// <summary>The key, as text.</summary>
    public string Key { get; } = key;

    internal static string TextOf<TKey>(TKey key)
    {
        try
        {
            return ErrorText.Cut(key?.ToString() ?? "null", KeyChars);
        }
        catch (Exception)
        {
            // ToString is user code too.
            return $"of type {TypeText.Of(typeof(TKey))}";
        }
    }
}
