using System.Buffers.Binary;

namespace Ida.Wire;

/// <summary>Writes into room reserved for a frame; callers have computed an upper bound of the size.</summary>
internal ref struct BodyWriter(Span<byte> room)
{
    private readonly Span<byte> _room = room;

    public int Length { get; private set; }

    public readonly ReadOnlySpan<byte> Written => _room[..Length];

    public void U8(byte value) => _room[Length++] = value;

    public void U16(ushort value)
    {
        BinaryPrimitives.WriteUInt16LittleEndian(_room[Length..], value);
        Length += 2;
    }

    public void U64(ulong value)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(_room[Length..], value);
        Length += 8;
    }

    public void U128(UInt128 value)
    {
        U64((ulong)value);
        U64((ulong)(value >> 64));
    }

    public void Var(ulong value)
    {
        while (value >= 0x80)
        {
            _room[Length++] = (byte)(value | 0x80);
            value >>= 7;
        }
        _room[Length++] = (byte)value;
    }

    public void Blob(ReadOnlySpan<byte> bytes)
    {
        Var((ulong)bytes.Length);
        Raw(bytes);
    }

    public void Raw(ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(_room[Length..]);
        Length += bytes.Length;
    }
}
