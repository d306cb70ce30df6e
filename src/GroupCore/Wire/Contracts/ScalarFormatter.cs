using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>A type that is one value on the wire, given as a pair of functions.</summary>
internal sealed class ScalarFormatter<T>(ScalarFormatter<T>.Writing write, ScalarFormatter<T>.Reading read, string? noKey = null) : Formatter<T>
{
    public delegate void Writing(ref MessagePackWriter writer, T value);

    public delegate T Reading(ref MessagePackReader reader);

    public override bool IsLeaf => true;

    public override string? NoKey => noKey;

    public override void Write(ref MessagePackWriter writer, T value) => write(ref writer, value);

    public override T Read(ref MessagePackReader reader) => read(ref reader);
}
