using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <inheritdoc/>
internal abstract class Formatter<T> : Formatter
{
    public sealed override Type Type => typeof(T);

    public abstract void Write(ref MessagePackWriter writer, T value);

    /// <summary>Reads a value; throws <see cref="InvalidDataException"/>, or what the user's constructors and setters throw.</summary>
    public abstract T Read(ref MessagePackReader reader);
}
