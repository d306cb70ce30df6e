namespace Ida;

/// <summary>A map was asked for with other types than it is declared with; nothing was sent.</summary>
public sealed class MapTypeException(string map, Type declaredKey, Type declaredValue, Type key, Type value)
    : DhtMisuseException($"The map \"{map}\" is declared with keys of {TypeText.Of(declaredKey)} and values of {TypeText.Of(declaredValue)}, and was asked for with keys of {TypeText.Of(key)} and values of {TypeText.Of(value)}.")
{
    /// <summary>The map.</summary>
    public string Map { get; } = map;

    /// <summary>The type of keys that is declared.</summary>
    public Type DeclaredKeyType { get; } = declaredKey;

    /// <summary>The type of values that is declared.</summary>
    public Type DeclaredValueType { get; } = declaredValue;

    /// <summary>The type of keys that was asked for.</summary>
    public Type KeyType { get; } = key;

    /// <summary>The type of values that was asked for.</summary>
    public Type ValueType { get; } = value;
}
