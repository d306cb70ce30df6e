using System.Runtime.CompilerServices;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>An enumeration as its number.</summary>
internal sealed class EnumFormatter<T, TNumber> : Formatter<T>
    where T : struct, Enum
    where TNumber : struct
{
    private Formatter<TNumber> _number = null!;

    public override bool IsLeaf => true;

    public override void Complete(IFormatterSource source) => _number = source.Get<TNumber>("");

    public override void Write(ref MessagePackWriter writer, T value) => _number.Write(ref writer, Unsafe.BitCast<T, TNumber>(value));

    public override T Read(ref MessagePackReader reader) => Unsafe.BitCast<TNumber, T>(_number.Read(ref reader));
}
