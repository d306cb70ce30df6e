namespace Ida;

/// <summary>Reads the keys of one map, for error messages.</summary>
internal interface IKeyText
{
    /// <summary>Map and key, as text; false where the key is not of this map.</summary>
    bool TryText(ReadOnlySpan<byte> key, out (string Map, string Key) text);
}
