using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Text;

namespace GroupCore.Wire.MessagePack;

/// <summary>
/// Writes MessagePack without allocating, into a span of the caller (protocol frames) or an <see cref="IBufferWriter{T}"/> (payloads).
/// Every value takes the shortest form that the format has.
/// </summary>
/// <remarks>
/// <para>Over a buffer writer, call <see cref="Flush"/> when done. Pass the writer by <c>ref</c>: a copy writes over the original.</para>
/// <para>Over a span, a value that does not fit is not written, and nothing after it is either: <see cref="Fits"/> stays false and
/// <see cref="Written"/> throws, so that half a frame cannot be sent by mistake. The writer never writes beyond the span.</para>
/// </remarks>
internal ref struct MessagePackWriter
{
    private readonly IBufferWriter<byte>? _to;
    private readonly int _room;
    private Span<byte> _span;
    private int _at;
    private long _before;
    private bool _full;
    private int _depth;

    /// <summary>A writer into <paramref name="span"/>, from its first byte on.</summary>
    public MessagePackWriter(Span<byte> span)
    {
        _span = span;
        _room = span.Length;
    }

    /// <summary>A writer that appends to <paramref name="to"/>.</summary>
    public MessagePackWriter(IBufferWriter<byte> to)
    {
        ArgumentNullException.ThrowIfNull(to);
        _to = to;
    }

    /// <summary>Whether all that was written so far fitted; always true over a buffer writer.</summary>
    public readonly bool Fits => !_full;

    /// <summary>Whether a key is written: equal values then give equal bytes.</summary>
    internal bool Canonical { get; init; }

    /// <summary>Bytes written so far.</summary>
    /// <exception cref="InvalidOperationException">Something did not fit into the span.</exception>
    public readonly int Written => _full ? throw Overflow() : checked((int)(_before + _at));

    /// <summary>Hands what was written to the buffer writer; nothing to do over a span.</summary>
    public void Flush()
    {
        if (_to is null || _at == 0) return;
        _to.Advance(_at);
        _before += _at;
        _span = default;
        _at = 0;
    }

    /// <summary>A writer to another buffer for values that belong at this place: it has the same depth, and is canonical if this one is.</summary>
    internal readonly MessagePackWriter Beside(IBufferWriter<byte> to) => new(to) { Canonical = Canonical, _depth = _depth };

    /// <summary>Goes one level deeper; refuses to write cycles of objects, and anything too deep for a reader.</summary>
    internal void Enter(Type type)
    {
        if (_depth++ == MessagePackReader.MaxDepth) throw new ContractException(type, $"is nested more than {MessagePackReader.MaxDepth} deep, maybe in a cycle.");
    }

    internal void Leave() => _depth--;

    /// <summary>Writes nil.</summary>
    public void WriteNil() => Put(MessagePackCode.Nil);

    /// <summary>Writes true or false.</summary>
    public void WriteBoolean(bool value) => Put(value ? MessagePackCode.True : MessagePackCode.False);

    /// <summary>Writes a whole number; one that is not negative takes the unsigned forms.</summary>
    public void WriteInt(long value)
    {
        if (value >= 0) WriteUInt((ulong)value);
        else if (value >= -32) Put((byte)value);
        else if (value >= sbyte.MinValue) Put8(MessagePackCode.Int8, (byte)value);
        else if (value >= short.MinValue) Put16(MessagePackCode.Int16, (ushort)value);
        else if (value >= int.MinValue) Put32(MessagePackCode.Int32, (uint)value);
        else Put64(MessagePackCode.Int64, (ulong)value);
    }

    /// <summary>Writes a whole number.</summary>
    public void WriteUInt(ulong value)
    {
        if (value <= MessagePackCode.MaxFixPositive) Put((byte)value);
        else if (value <= byte.MaxValue) Put8(MessagePackCode.UInt8, (byte)value);
        else if (value <= ushort.MaxValue) Put16(MessagePackCode.UInt16, (ushort)value);
        else if (value <= uint.MaxValue) Put32(MessagePackCode.UInt32, (uint)value);
        else Put64(MessagePackCode.UInt64, value);
    }

    /// <summary>Writes a 32-bit floating point number; its bits are kept.</summary>
    public void WriteSingle(float value) => Put32(MessagePackCode.Float32, BitConverter.SingleToUInt32Bits(value));

    /// <summary>Writes a 64-bit floating point number; its bits are kept.</summary>
    public void WriteDouble(double value) => Put64(MessagePackCode.Float64, BitConverter.DoubleToUInt64Bits(value));

    /// <summary>Writes text as UTF-8; a surrogate without its other half becomes U+FFFD. Null is an empty text here: write nil for null.</summary>
    public void WriteString(scoped ReadOnlySpan<char> value)
    {
        // Up to 10 characters are at most 30 bytes, so the header is one byte in any case, and one pass suffices.
        if (value.Length <= 10 && _span.Length - _at > 31)
        {
            int length = Encoding.UTF8.GetBytes(value, _span[(_at + 1)..]);
            _span[_at] = (byte)(MessagePackCode.FixString | length);
            _at += length + 1;
            return;
        }
        int count = Encoding.UTF8.GetByteCount(value);
        if (!Has(HeaderOfString(count) + count)) return;
        PutStringHeader(count);
        _at += Encoding.UTF8.GetBytes(value, _span[_at..]);
    }

    /// <summary>Writes text that is UTF-8 already; the bytes are not checked.</summary>
    public void WriteUtf8(scoped ReadOnlySpan<byte> utf8)
    {
        if (_to is null && !Has(HeaderOfString(utf8.Length) + utf8.Length)) return;
        PutStringHeader(utf8.Length);
        WriteRaw(utf8);
    }

    /// <summary>Writes bytes.</summary>
    public void WriteBinary(scoped ReadOnlySpan<byte> value)
    {
        WriteBinaryHeader(value.Length);
        WriteRaw(value);
    }

    /// <summary>Starts a run of <paramref name="length"/> bytes, all of which <see cref="WriteRaw"/> or <see cref="Take"/> must then give.</summary>
    public void WriteBinaryHeader(int length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        if (length <= byte.MaxValue) Put8(MessagePackCode.Binary8, (byte)length);
        else if (length <= ushort.MaxValue) Put16(MessagePackCode.Binary16, (ushort)length);
        else Put32(MessagePackCode.Binary32, (uint)length);
    }

    /// <summary>Starts a list of <paramref name="count"/> values.</summary>
    public void WriteArrayHeader(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (count <= 15) Put((byte)(MessagePackCode.FixArray | count));
        else if (count <= ushort.MaxValue) Put16(MessagePackCode.Array16, (ushort)count);
        else Put32(MessagePackCode.Array32, (uint)count);
    }

    /// <summary>Starts a list of <paramref name="count"/> pairs.</summary>
    public void WriteMapHeader(int count)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(count);
        if (count <= 15) Put((byte)(MessagePackCode.FixMap | count));
        else if (count <= ushort.MaxValue) Put16(MessagePackCode.Map16, (ushort)count);
        else Put32(MessagePackCode.Map32, (uint)count);
    }

    /// <summary>Writes bytes tagged with a type number; negative numbers belong to the format.</summary>
    public void WriteExtension(sbyte type, scoped ReadOnlySpan<byte> data)
    {
        switch (data.Length)
        {
            case 1: Put8(MessagePackCode.FixExtension1, (byte)type); break;
            case 2: Put8(MessagePackCode.FixExtension2, (byte)type); break;
            case 4: Put8(MessagePackCode.FixExtension4, (byte)type); break;
            case 8: Put8(MessagePackCode.FixExtension8, (byte)type); break;
            case 16: Put8(MessagePackCode.FixExtension16, (byte)type); break;
            case <= byte.MaxValue:
                Put8(MessagePackCode.Extension8, (byte)data.Length);
                Put((byte)type);
                break;
            case <= ushort.MaxValue:
                Put16(MessagePackCode.Extension16, (ushort)data.Length);
                Put((byte)type);
                break;
            default:
                Put32(MessagePackCode.Extension32, (uint)data.Length);
                Put((byte)type);
                break;
        }
        WriteRaw(data);
    }

    /// <summary>Writes a point in time as the format's own extension (type −1), in 4, 8 or 12 bytes as needed.</summary>
    /// <param name="seconds">Since 1970-01-01 00:00:00 UTC, may be negative.</param>
    /// <param name="nanoseconds">Of the second, 0 … 999 999 999.</param>
    public void WriteTimestamp(long seconds, int nanoseconds)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(nanoseconds);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(nanoseconds, 999_999_999);
        Span<byte> data = stackalloc byte[12];
        if (seconds >> 34 != 0)
        {
            BinaryPrimitives.WriteInt32BigEndian(data, nanoseconds);
            BinaryPrimitives.WriteInt64BigEndian(data[4..], seconds);
        }
        else if (nanoseconds != 0 || seconds > uint.MaxValue)
        {
            data = data[..8];
            BinaryPrimitives.WriteUInt64BigEndian(data, ((ulong)nanoseconds << 34) | (ulong)seconds);
        }
        else
        {
            data = data[..4];
            BinaryPrimitives.WriteUInt32BigEndian(data, (uint)seconds);
        }
        WriteExtension(MessagePackCode.Timestamp, data);
    }

    /// <summary>Appends bytes that are MessagePack already, or the content of a <see cref="WriteBinaryHeader"/>.</summary>
    public void WriteRaw(scoped ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length > _span.Length - _at && _to is not null)
        {
            Flush();
            _to.Write(bytes);
            _before += bytes.Length;
            return;
        }
        if (!Has(bytes.Length)) return;
        bytes.CopyTo(_span[_at..]);
        _at += bytes.Length;
    }

    /// <summary>The next <paramref name="length"/> bytes, counted as written, for the caller to fill before anything else; empty when they do not fit.</summary>
    public Span<byte> Take(int length)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(length);
        if (!Has(length)) return default;
        _at += length;
        return _span.Slice(_at - length, length);
    }

    private static int HeaderOfString(int count) => count <= 31 ? 1 : count <= byte.MaxValue ? 2 : count <= ushort.MaxValue ? 3 : 5;

    private void PutStringHeader(int count)
    {
        if (count <= 31) Put((byte)(MessagePackCode.FixString | count));
        else if (count <= byte.MaxValue) Put8(MessagePackCode.String8, (byte)count);
        else if (count <= ushort.MaxValue) Put16(MessagePackCode.String16, (ushort)count);
        else Put32(MessagePackCode.String32, (uint)count);
    }

    private void Put(byte code)
    {
        if (Has(1)) _span[_at++] = code;
    }

    private void Put8(byte code, byte value)
    {
        if (!Has(2)) return;
        _span[_at] = code;
        _span[_at + 1] = value;
        _at += 2;
    }

    private void Put16(byte code, ushort value)
    {
        if (!Has(3)) return;
        _span[_at] = code;
        BinaryPrimitives.WriteUInt16BigEndian(_span[(_at + 1)..], value);
        _at += 3;
    }

    private void Put32(byte code, uint value)
    {
        if (!Has(5)) return;
        _span[_at] = code;
        BinaryPrimitives.WriteUInt32BigEndian(_span[(_at + 1)..], value);
        _at += 5;
    }

    private void Put64(byte code, ulong value)
    {
        if (!Has(9)) return;
        _span[_at] = code;
        BinaryPrimitives.WriteUInt64BigEndian(_span[(_at + 1)..], value);
        _at += 9;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private bool Has(int size) => size <= _span.Length - _at || Grow(size);

    private bool Grow(int size)
    {
        if (_to is null)
        {
            _full = true;
            _span = default;
            _at = 0;
            return false;
        }
        Flush();
        _span = _to.GetSpan(size);
        if (_span.Length < size) throw new InvalidOperationException($"The buffer writer was asked for {size} bytes and gave {_span.Length}.");
        return true;
    }

    private readonly InvalidOperationException Overflow() => new($"What was written does not fit into the {_room} bytes given.");
}
