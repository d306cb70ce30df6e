using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>Nil or a value.</summary>
internal sealed class NullableFormatter<T> : Formatter<T?>
    where T : struct
{
    private Formatter<T> _value = null!;

    public override bool IsLeaf => _value.IsLeaf;

    public override IEnumerable<(string Name, Formatter Part)> Parts => [("", _value)];

    public override void Complete(IFormatterSource source) => _value = source.Get<T>("");

    public override void Write(ref MessagePackWriter writer, T? value)
    {
        if (value is { } present) _value.Write(ref writer, present);
        else writer.WriteNil();
    }

    public override T? Read(ref MessagePackReader reader) => reader.TryReadNil() ? null : _value.Read(ref reader);
}
