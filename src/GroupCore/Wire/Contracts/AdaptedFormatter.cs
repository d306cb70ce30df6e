using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>A type that is written as another type.</summary>
internal sealed class AdaptedFormatter<T, TAs>(Func<T, TAs> to, Func<TAs, T> from) : Formatter<T>
{
    private Formatter<TAs> _inner = null!;

    public override IEnumerable<(string Name, Formatter Part)> Parts => [("", _inner)];

    public override void Complete(IFormatterSource source) => _inner = source.Get<TAs>("");

    public override void Write(ref MessagePackWriter writer, T value) => _inner.Write(ref writer, to(value));

    public override T Read(ref MessagePackReader reader) => from(_inner.Read(ref reader));
}
