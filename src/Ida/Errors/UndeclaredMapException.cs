using GroupCore.Wire.MessagePack;

namespace Ida;

/// <summary>The caller asked for a map that this member has not declared; nothing was sent.</summary>
public sealed class UndeclaredMapException(string map, IReadOnlyList<string> declared)
    : DhtMisuseException($"The map \"{Utf8Text.AsGot(map)}\" is not declared. Declare it in EnableDhtAsync, at every member; declared are {string.Join(", ", declared.Select(static name => $"\"{name}\""))}.")
{
    /// <summary>The name that was asked for.</summary>
    public string Map { get; } = map;

    /// <summary>The names of the declared maps, in order.</summary>
    public IReadOnlyList<string> Declared { get; } = declared;
}
