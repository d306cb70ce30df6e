using System.Buffers.Binary;

namespace Ida.Wire;

/// <summary>Reads untrusted bytes: after the first read beyond the end everything is zero and <see cref="Failed"/> is set.</summary>
internal ref struct BodyReader(ReadOnlySpan<byte> bytes)
{
    private ReadOnlySpan<byte> _rest = bytes;

    public bool Failed { get; private set; }

    public readonly int Remaining => _rest.Length;

    /// <summary>Everything was read, and nothing beyond it.</summary>
    public readonly bool Complete => !Failed && _rest.Length == 0;

    public byte U8() => Bytes(1) is { Length: 1 } one ? one[0] : (byte)0;

    public ushort U16() => Bytes(2) is { Length: 2 } two ? BinaryPrimitives.ReadUInt16LittleEndian(two) : (ushort)0;

    public ulong U64() => Bytes(8) is { Length: 8 } eight ? BinaryPrimitives.ReadUInt64LittleEndian(eight) : 0;

    public UInt128 U128()
    {
        ulong low = U64();
        return new(U64(), low);
    }

    /// <summary>Little-endian base 128, at most 64 bits.</summary>
    public ulong Var()
    {
        ulong value = 0;
        for (int i = 0; i < _rest.Length && i < 10; i++)
        {
            byte part = _rest[i];
            if (i == 9 && part > 1) break;
            value |= (ulong)(part & 0x7F) << (7 * i);
            if (part >= 0x80) continue;
            _rest = _rest[(i + 1)..];
            return value;
        }
        Fail();
        return 0;
    }

    /// <summary>A count of items that take at least <paramref name="each"/> bytes each.</summary>
    public int Count(int most, int each)
    {
        ulong value = Var();
        if (value <= (ulong)most && (long)value * each <= _rest.Length) return (int)value;
        Fail();
        return 0;
    }

    public ReadOnlySpan<byte> Bytes(int length)
    {
        if ((uint)length > (uint)_rest.Length)
        {
            Fail();
            return default;
        }
        var taken = _rest[..length];
        _rest = _rest[length..];
        return taken;
    }

    /// <summary>A length, then that many bytes.</summary>
    public ReadOnlySpan<byte> Blob(int most) => Bytes(Count(most, 1));

    public void Fail()
    {
        Failed = true;
        _rest = default;
    }
}
