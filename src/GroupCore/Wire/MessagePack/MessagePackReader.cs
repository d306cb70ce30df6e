using System.Buffers.Binary;
using System.Text;
using System.Text.Unicode;

namespace GroupCore.Wire.MessagePack;

/// <summary>
/// Reads MessagePack from untrusted bytes in place. The <c>TryRead</c> methods never throw: they return false, and stay where they are,
/// when the next value is missing, cut off, of another type or out of range. The <c>Read</c> methods throw
/// <see cref="InvalidDataException"/> instead and say what was wrong and where.
/// </summary>
/// <remarks>
/// <para>Whole numbers are taken in any form that holds their value, and floating point fields also take whole numbers (other languages write
/// 1.0 as 1). Lengths are checked against the bytes at hand before anything is returned, so a count from <see cref="TryReadArrayHeader"/>
/// is at most the number of bytes left, and a count from <see cref="TryReadMapHeader"/> at most half of that.</para>
/// <para>Nothing is allocated but the strings and arrays asked for. Pass the reader by <c>ref</c>. Limits: links.md#sizes-are-checked-before-anything-is-allocated.</para>
/// </remarks>
internal ref partial struct MessagePackReader
{
    /// <summary>How deep values may be nested.</summary>
    public const int MaxDepth = 64;

    private readonly ReadOnlySpan<byte> _bytes;
    private int _at;
    private int _depth;

    /// <summary>A reader at the first of <paramref name="bytes"/>.</summary>
    public MessagePackReader(ReadOnlySpan<byte> bytes) => _bytes = bytes;

    /// <summary>Bytes read so far.</summary>
    public readonly int Position => _at;

    /// <summary>Bytes that follow.</summary>
    public readonly int Remaining => _bytes.Length - _at;

    /// <summary>Whether all bytes are read.</summary>
    public readonly bool AtEnd => _at == _bytes.Length;

    /// <summary>What comes next.</summary>
    public readonly MessagePackType NextType => _at < _bytes.Length ? MessagePackCode.TypeOf(_bytes[_at]) : MessagePackType.None;

    /// <summary>Goes one level deeper, before the content of an array or map is read; false at <see cref="MaxDepth"/>. Needed only if the sender chooses the nesting.</summary>
    public bool TryEnter()
    {
        if (_depth == MaxDepth) return false;
        _depth++;
        return true;
    }

    /// <summary>Goes back up after <see cref="TryEnter"/>.</summary>
    public void Leave() => _depth--;

    /// <summary>Takes a nil if it comes next.</summary>
    public bool TryReadNil()
    {
        if (_at >= _bytes.Length || _bytes[_at] != MessagePackCode.Nil) return false;
        _at++;
        return true;
    }

    /// <summary>Reads true or false.</summary>
    public bool TryReadBoolean(out bool value)
    {
        value = false;
        if (_at >= _bytes.Length || (uint)(_bytes[_at] - MessagePackCode.False) > 1) return false;
        value = _bytes[_at++] == MessagePackCode.True;
        return true;
    }

    /// <summary>Reads a whole number.</summary>
    public bool TryReadInt64(out long value)
    {
        if (_at < _bytes.Length && _bytes[_at] <= MessagePackCode.MaxFixPositive)
        {
            value = _bytes[_at++];
            return true;
        }
        if (!PeekInteger(out value, out bool huge, out int size) || huge) return false;
        _at += size;
        return true;
    }

    /// <summary>Reads a whole number that is not negative.</summary>
    public bool TryReadUInt64(out ulong value)
    {
        bool read = PeekInteger(out long bits, out bool huge, out int size) && (huge || bits >= 0);
        value = (ulong)bits;
        if (read) _at += size;
        return read;
    }

    /// <summary>Reads a whole number of 32 bits.</summary>
    public bool TryReadInt32(out int value)
    {
        bool read = TryReadWithin(int.MinValue, int.MaxValue, out long wide);
        value = (int)wide;
        return read;
    }

    /// <summary>Reads a whole number of 32 bits that is not negative.</summary>
    public bool TryReadUInt32(out uint value)
    {
        bool read = TryReadWithin(0, uint.MaxValue, out long wide);
        value = (uint)wide;
        return read;
    }

    /// <summary>Reads a whole number of 16 bits that is not negative.</summary>
    public bool TryReadUInt16(out ushort value)
    {
        bool read = TryReadWithin(0, ushort.MaxValue, out long wide);
        value = (ushort)wide;
        return read;
    }

    /// <summary>Reads a whole number of 8 bits that is not negative.</summary>
    public bool TryReadByte(out byte value)
    {
        bool read = TryReadWithin(0, byte.MaxValue, out long wide);
        value = (byte)wide;
        return read;
    }

    /// <summary>Reads a whole number from <paramref name="min"/> to <paramref name="max"/>, both included.</summary>
    public bool TryReadWithin(long min, long max, out long value)
    {
        if (!PeekInteger(out value, out bool huge, out int size) || huge || value < min || value > max) return false;
        _at += size;
        return true;
    }

    /// <summary>Reads a number as floating point of 64 bits.</summary>
    public bool TryReadDouble(out double value)
    {
        if (_at < _bytes.Length && _bytes[_at] == MessagePackCode.Float64 && Remaining >= 9)
        {
            value = BinaryPrimitives.ReadDoubleBigEndian(_bytes[(_at + 1)..]);
            _at += 9;
            return true;
        }
        if (_at < _bytes.Length && _bytes[_at] == MessagePackCode.Float32 && Remaining >= 5)
        {
            value = BinaryPrimitives.ReadSingleBigEndian(_bytes[(_at + 1)..]);
            _at += 5;
            return true;
        }
        bool read = PeekInteger(out long bits, out bool huge, out int size);
        value = huge ? (ulong)bits : bits;
        if (read) _at += size;
        return read;
    }

    /// <summary>Reads a number as floating point of 32 bits, rounding a wider one.</summary>
    public bool TryReadSingle(out float value)
    {
        if (_at < _bytes.Length && _bytes[_at] == MessagePackCode.Float32 && Remaining >= 5)
        {
            value = BinaryPrimitives.ReadSingleBigEndian(_bytes[(_at + 1)..]);
            _at += 5;
            return true;
        }
        bool read = TryReadDouble(out double wide);
        value = (float)wide;
        return read;
    }

    /// <summary>Reads text as the bytes of its UTF-8 form, unchecked; the span lies in the bytes read from.</summary>
    public bool TryReadUtf8(out ReadOnlySpan<byte> utf8) => TryReadSized(MessagePackType.String, out utf8);

    /// <summary>Reads text; false when it is not valid UTF-8. Allocates the string.</summary>
    public bool TryReadString([System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out string? value)
    {
        int before = _at;
        if (TryReadUtf8(out var utf8) && Utf8.IsValid(utf8))
        {
            value = Encoding.UTF8.GetString(utf8);
            return true;
        }
        _at = before;
        value = null;
        return false;
    }

    /// <summary>Reads bytes; the span lies in the bytes read from.</summary>
    public bool TryReadBinary(out ReadOnlySpan<byte> value) => TryReadSized(MessagePackType.Binary, out value);

    /// <summary>Reads the count of an array; its values follow.</summary>
    public bool TryReadArrayHeader(out int count) => TryReadCount(MessagePackType.Array, out count);

    /// <summary>Reads the count of pairs of a map; keys and values follow in turn.</summary>
    public bool TryReadMapHeader(out int count) => TryReadCount(MessagePackType.Map, out count);

    /// <summary>Reads an extension; the span lies in the bytes read from.</summary>
    public bool TryReadExtension(out sbyte type, out ReadOnlySpan<byte> data)
    {
        type = 0;
        data = default;
        if (NextType != MessagePackType.Extension || !PeekHeader(out int header, out uint length)) return false;
        type = (sbyte)_bytes[_at + header - 1];
        data = _bytes.Slice(_at + header, (int)length);
        _at += header + (int)length;
        return true;
    }

    /// <summary>Reads a point in time (extension −1).</summary>
    /// <param name="seconds">Since 1970-01-01 00:00:00 UTC, may be negative.</param>
    /// <param name="nanoseconds">Of the second, 0 … 999 999 999.</param>
    public bool TryReadTimestamp(out long seconds, out int nanoseconds)
    {
        int before = _at;
        seconds = 0;
        nanoseconds = 0;
        if (TryReadExtension(out sbyte type, out var data) && type == MessagePackCode.Timestamp)
        {
            uint nano = uint.MaxValue;
            if (data.Length == 4) (seconds, nano) = (BinaryPrimitives.ReadUInt32BigEndian(data), 0);
            else if (data.Length == 12) (seconds, nano) = (BinaryPrimitives.ReadInt64BigEndian(data[4..]), BinaryPrimitives.ReadUInt32BigEndian(data));
            else if (data.Length == 8)
            {
                ulong both = BinaryPrimitives.ReadUInt64BigEndian(data);
                (seconds, nano) = ((long)(both & 0x3_FFFF_FFFF), (uint)(both >> 34));
            }
            nanoseconds = (int)nano;
            if (nano <= 999_999_999) return true;
        }
        seconds = 0;
        nanoseconds = 0;
        _at = before;
        return false;
    }

    /// <summary>Reads the next value, whatever it is, with all that it contains, without looking into strings; the span lies in the bytes read from.</summary>
    public bool TryReadRaw(out ReadOnlySpan<byte> value)
    {
        int before = _at;
        bool read = TrySkip();
        value = _bytes[before.._at];
        return read;
    }

    /// <summary>Passes over the next value, with all that it contains.</summary>
    public bool TrySkip()
    {
        int before = _at;
        if (SkipFrom(_depth)) return true;
        _at = before;
        return false;
    }

    private bool SkipFrom(int depth)
    {
        if (!PeekHeader(out int header, out uint length)) return false;
        MessagePackType type = MessagePackCode.TypeOf(_bytes[_at]);
        _at += header;
        if (type is not (MessagePackType.Array or MessagePackType.Map))
        {
            _at += (int)length;
            return true;
        }
        if (depth == MaxDepth) return false;
        uint values = type == MessagePackType.Map ? length * 2 : length;
        for (; values > 0; values--)
            if (!SkipFrom(depth + 1)) return false;
        return true;
    }

    private bool TryReadSized(MessagePackType type, out ReadOnlySpan<byte> value)
    {
        value = default;
        if (NextType != type || !PeekHeader(out int header, out uint length)) return false;
        value = _bytes.Slice(_at + header, (int)length);
        _at += header + (int)length;
        return true;
    }

    private bool TryReadCount(MessagePackType type, out int count)
    {
        count = 0;
        if (NextType != type || !PeekHeader(out int header, out uint length)) return false;
        count = (int)length;
        _at += header;
        return true;
    }

    /// <summary>
    /// The size of the next value's header (an extension's type byte included) and what follows: bytes for scalars, values or pairs for
    /// containers. False when that is more than the bytes at hand can hold.
    /// </summary>
    private readonly bool PeekHeader(out int header, out uint length)
    {
        header = 1;
        length = 0;
        if (_at >= _bytes.Length) return false;
        byte code = _bytes[_at];
        MessagePackType type = MessagePackCode.TypeOf(code);
        switch (code)
        {
            case <= MessagePackCode.MaxFixPositive or >= MessagePackCode.MinFixNegative:
            case MessagePackCode.Nil or MessagePackCode.False or MessagePackCode.True:
                return true;
            case < MessagePackCode.FixString:
                length = code & 0x0Fu;
                break;
            case < MessagePackCode.Nil:
                length = code & 0x1Fu;
                break;
            case MessagePackCode.Binary8 or MessagePackCode.String8 or MessagePackCode.Extension8:
                if (!Sized(1, ref header, ref length)) return false;
                break;
            case MessagePackCode.Binary16 or MessagePackCode.String16 or MessagePackCode.Extension16 or MessagePackCode.Array16 or MessagePackCode.Map16:
                if (!Sized(2, ref header, ref length)) return false;
                break;
            case MessagePackCode.Binary32 or MessagePackCode.String32 or MessagePackCode.Extension32 or MessagePackCode.Array32 or MessagePackCode.Map32:
                if (!Sized(4, ref header, ref length)) return false;
                break;
            case MessagePackCode.UInt8 or MessagePackCode.Int8:
                length = 1;
                break;
            case MessagePackCode.UInt16 or MessagePackCode.Int16:
                length = 2;
                break;
            case MessagePackCode.UInt32 or MessagePackCode.Int32 or MessagePackCode.Float32:
                length = 4;
                break;
            case MessagePackCode.UInt64 or MessagePackCode.Int64 or MessagePackCode.Float64:
                length = 8;
                break;
            case >= MessagePackCode.FixExtension1 and <= MessagePackCode.FixExtension16:
                length = 1u << (code - MessagePackCode.FixExtension1);
                break;
            default:
                return false;
        }
        if (type == MessagePackType.Extension) header++;
        long needed = header + (type == MessagePackType.Map ? 2L * length : length);
        return needed <= Remaining;
    }

    private readonly bool Sized(int bytes, ref int header, ref uint length)
    {
        header += bytes;
        if (Remaining < header) return false;
        var at = _bytes[(_at + 1)..];
        length = bytes == 1 ? at[0] : bytes == 2 ? BinaryPrimitives.ReadUInt16BigEndian(at) : BinaryPrimitives.ReadUInt32BigEndian(at);
        return true;
    }

    /// <summary>The next value as a whole number. If <paramref name="huge"/>, it is unsigned and above the signed range, and <paramref name="value"/> holds its bits.</summary>
    private readonly bool PeekInteger(out long value, out bool huge, out int size)
    {
        value = 0;
        huge = false;
        size = 1;
        if (_at >= _bytes.Length) return false;
        byte code = _bytes[_at];
        if (code is <= MessagePackCode.MaxFixPositive or >= MessagePackCode.MinFixNegative)
        {
            value = (sbyte)code;
            return true;
        }
        if (code is < MessagePackCode.UInt8 or > MessagePackCode.Int64) return false;
        int width = 1 << ((code - MessagePackCode.UInt8) & 3);
        if (Remaining <= width) return false;
        size += width;
        var at = _bytes[(_at + 1)..];
        switch (code)
        {
            case MessagePackCode.UInt8: value = at[0]; break;
            case MessagePackCode.UInt16: value = BinaryPrimitives.ReadUInt16BigEndian(at); break;
            case MessagePackCode.UInt32: value = BinaryPrimitives.ReadUInt32BigEndian(at); break;
            case MessagePackCode.Int8: value = (sbyte)at[0]; break;
            case MessagePackCode.Int16: value = BinaryPrimitives.ReadInt16BigEndian(at); break;
            case MessagePackCode.Int32: value = BinaryPrimitives.ReadInt32BigEndian(at); break;
            default:
                value = BinaryPrimitives.ReadInt64BigEndian(at);
                huge = code == MessagePackCode.UInt64 && value < 0;
                break;
        }
        return true;
    }
}
