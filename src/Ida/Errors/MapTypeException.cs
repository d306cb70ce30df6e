namespace Ida;

/// <summary>A map was asked for with types other than the declared ones; nothing was sent.</summary>
public sealed class MapTypeException(string map, Type declaredKey, Type declaredValue, Type key, Type value)
    : DhtMisuseException($"The map \"{map}\" is declared with keys of {TypeText.Of(declaredKey)} and values of {TypeText.Of(declaredValue)}, and was asked for with keys of {TypeText.Of(key)} and values of {TypeText.Of(value)}.")
{
    /// <summary>The map.</summary>
    public string Map { get; } = map;

    /// <summary>The declared type of the keys.</summary>
    public Type DeclaredKeyType { get; } = declaredKey;

    /// <summary>The declared type of the values.</summary>
    public Type DeclaredValueType { get; } = declaredValue;

    /// <summary>The type of the keys that was asked for.</summary>
    public Type KeyType { get; } = key;

    /// <summary>The type of the values that was asked for.</summary>
    public Type ValueType { get; } = value;
}
