namespace Ida;

/// <summary>A key or value cannot be written, or stored bytes cannot be read as the map's type.</summary>
public sealed class UnsupportedTypeException(Type type, string message, Exception? inner = null) : DhtMisuseException($"{TypeText.Of(type)}: {message}", inner)
{
    /// <summary>The type.</summary>
    public Type Type { get; } = type;
}
