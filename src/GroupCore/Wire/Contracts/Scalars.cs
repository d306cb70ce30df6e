using System.Buffers;
using System.Buffers.Text;
using System.Globalization;
using System.Numerics;
using System.Text;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Wire.Contracts;

/// <summary>
/// The types that are one value on the wire, in the forms that the standard resolver of MessagePack-CSharp gives them (decision record 0002).
/// In keys, values that are equal but would differ in bytes take one form: −0 is 0, 1.00 is 1, a time with an offset is its UTC time.
/// </summary>
internal static class Scalars
{
    private const long MinSeconds = -62_135_596_800, MaxSeconds = 253_402_300_799;

    private static readonly Dictionary<Type, Formatter> s_all = new List<Formatter>
    {
        Of<bool>((ref w, v) => w.WriteBoolean(v), (ref r) => r.ReadBoolean()),
        Of<byte>((ref w, v) => w.WriteUInt(v), (ref r) => (byte)r.ReadWithin(byte.MinValue, byte.MaxValue)),
        Of<sbyte>((ref w, v) => w.WriteInt(v), (ref r) => (sbyte)r.ReadWithin(sbyte.MinValue, sbyte.MaxValue)),
        Of<short>((ref w, v) => w.WriteInt(v), (ref r) => (short)r.ReadWithin(short.MinValue, short.MaxValue)),
        Of<ushort>((ref w, v) => w.WriteUInt(v), (ref r) => (ushort)r.ReadWithin(ushort.MinValue, ushort.MaxValue)),
        Of<char>((ref w, v) => w.WriteUInt(v), (ref r) => (char)r.ReadWithin(char.MinValue, char.MaxValue)),
        Of<int>((ref w, v) => w.WriteInt(v), (ref r) => r.ReadInt32()),
        Of<uint>((ref w, v) => w.WriteUInt(v), (ref r) => (uint)r.ReadWithin(uint.MinValue, uint.MaxValue)),
        Of<long>((ref w, v) => w.WriteInt(v), (ref r) => r.ReadInt64()),
        Of<ulong>((ref w, v) => w.WriteUInt(v), (ref r) => r.ReadUInt64()),
        Of<Int128>(WriteInt128, (ref r) => ReadSized(ref r, 16, static b => (Int128)System.Buffers.Binary.BinaryPrimitives.ReadInt128LittleEndian(b))),
        Of<UInt128>((ref w, v) => WriteInt128(ref w, (Int128)v), (ref r) => ReadSized(ref r, 16, System.Buffers.Binary.BinaryPrimitives.ReadUInt128LittleEndian)),
        Of<float>((ref w, v) => w.WriteSingle(w.Canonical ? (float)InKey(v, typeof(float)) : v), (ref r) => r.ReadSingle()),
        Of<double>((ref w, v) => w.WriteDouble(w.Canonical ? InKey(v, typeof(double)) : v), (ref r) => r.ReadDouble()),
        Of<Half>((ref w, v) => w.WriteSingle(w.Canonical ? (float)InKey((double)v, typeof(Half)) : (float)v), (ref r) => (Half)r.ReadSingle()),
        Of<decimal>(WriteDecimal, ReadDecimal),
        Of<BigInteger>(WriteBigInteger, (ref r) => new BigInteger(r.ReadBinary())),
        Of<string?>(WriteString, (ref r) => r.TryReadNil() ? null : r.ReadString()),
        Of<Guid>(WriteGuid, ReadGuid),
        Of<DateTime>(WriteDateTime, ReadDateTime),
        Of<DateTimeOffset>(WriteDateTimeOffset, ReadDateTimeOffset),
        Of<TimeSpan>((ref w, v) => w.WriteInt(v.Ticks), (ref r) => new TimeSpan(r.ReadInt64())),
        Of<DateOnly>((ref w, v) => w.WriteInt(v.DayNumber), (ref r) => DateOnly.FromDayNumber(r.ReadInt32())),
        Of<TimeOnly>((ref w, v) => w.WriteInt(v.Ticks), (ref r) => new TimeOnly(r.ReadInt64())),
        Of<Rune>((ref w, v) => w.WriteInt(v.Value), (ref r) => new Rune(r.ReadInt32())),
        Of<Version?>((ref w, v) => WriteText(ref w, v?.ToString()), (ref r) => r.TryReadNil() ? null : Version.Parse(r.ReadString())),
        Of<Uri?>((ref w, v) => WriteText(ref w, v?.OriginalString), (ref r) => r.TryReadNil() ? null : new Uri(r.ReadString(), UriKind.RelativeOrAbsolute),
            "has several texts for equal addresses; use a string"),
        Of<byte[]?>(WriteBytes, (ref r) => r.TryReadNil() ? null : r.ReadBinary().ToArray()),
        Of<Memory<byte>>((ref w, v) => w.WriteBinary(v.Span), (ref r) => r.TryReadNil() ? default : r.ReadBinary().ToArray()),
        Of<ReadOnlyMemory<byte>>((ref w, v) => w.WriteBinary(v.Span), (ref r) => r.TryReadNil() ? default : r.ReadBinary().ToArray()),
        Of<ReadOnlySequence<byte>>(WriteSequence, (ref r) => r.TryReadNil() ? default : new(r.ReadBinary().ToArray())),
        Of<ArraySegment<byte>>((ref w, v) =>
        {
            if (v.Array is null) w.WriteNil();
            else w.WriteBinary(v);
        }, (ref r) => r.TryReadNil() ? default : new(r.ReadBinary().ToArray())),
    }.ToDictionary(f => f.Type);

    public static Formatter? Find(Type type) => s_all.GetValueOrDefault(type);

    private static ScalarFormatter<T> Of<T>(ScalarFormatter<T>.Writing write, ScalarFormatter<T>.Reading read, string? noKey = null) => new(write, read, noKey);

    private static double InKey(double value, Type type) => double.IsNaN(value)
        ? throw new ContractException(type, "is not a number here (NaN), which equals no key, not even itself.")
        : value == 0 ? 0 : value;

    private delegate T Decoding<T>(ReadOnlySpan<byte> bytes);

    private static T ReadSized<T>(ref MessagePackReader reader, int size, Decoding<T> decode)
    {
        var at = reader;
        var bytes = reader.ReadBinary();
        return bytes.Length == size ? decode(bytes) : throw at.Unexpected($"{size} bytes");
    }

    private static void WriteInt128(ref MessagePackWriter writer, Int128 value)
    {
        Span<byte> bytes = stackalloc byte[16];
        System.Buffers.Binary.BinaryPrimitives.WriteInt128LittleEndian(bytes, value);
        writer.WriteBinary(bytes);
    }

    private static void WriteDecimal(ref MessagePackWriter writer, decimal value)
    {
        // Division by one with the largest scale takes the trailing zeros away.
        if (writer.Canonical) value = value == 0 ? 0 : value / 1.0000000000000000000000000000m;
        Span<byte> text = stackalloc byte[32];
        value.TryFormat(text, out int length, default, CultureInfo.InvariantCulture);
        writer.WriteUtf8(text[..length]);
    }

    private static decimal ReadDecimal(ref MessagePackReader reader)
    {
        var at = reader;
        return decimal.TryParse(reader.ReadUtf8(), NumberStyles.Float, CultureInfo.InvariantCulture, out decimal value)
            ? value : throw at.Unexpected("a decimal number as text");
    }

    private static void WriteBigInteger(ref MessagePackWriter writer, BigInteger value)
    {
        int length = value.GetByteCount();
        writer.WriteBinaryHeader(length);
        Span<byte> room = writer.Take(length);
        if (room.Length == length) value.TryWriteBytes(room, out _);
    }

    private static void WriteString(ref MessagePackWriter writer, string? value)
    {
        if (writer.Canonical) RefuseHalfCharacters(value);
        WriteText(ref writer, value);
    }

    private static void RefuseHalfCharacters(ReadOnlySpan<char> value)
    {
        for (int i = 0; i < value.Length; i++)
        {
            if (!char.IsSurrogate(value[i])) continue;
            if (i + 1 == value.Length || !char.IsSurrogatePair(value[i], value[++i]))
                throw new ContractException(typeof(string), "holds half a character here (a lone surrogate), which UTF-8 cannot distinguish from others.");
        }
    }

    private static void WriteText(ref MessagePackWriter writer, string? value)
    {
        if (value is null) writer.WriteNil();
        else writer.WriteString(value);
    }

    private static void WriteBytes(ref MessagePackWriter writer, byte[]? value)
    {
        if (value is null) writer.WriteNil();
        else writer.WriteBinary(value);
    }

    private static void WriteSequence(ref MessagePackWriter writer, ReadOnlySequence<byte> value)
    {
        writer.WriteBinaryHeader(checked((int)value.Length));
        foreach (var part in value) writer.WriteRaw(part.Span);
    }

    private static void WriteGuid(ref MessagePackWriter writer, Guid value)
    {
        Span<byte> text = stackalloc byte[36];
        value.TryFormat(text, out _);
        writer.WriteUtf8(text);
    }

    private static Guid ReadGuid(ref MessagePackReader reader)
    {
        var at = reader;
        var text = reader.ReadUtf8();
        return text.Length == 36 && Utf8Parser.TryParse(text, out Guid value, out int used) && used == 36 ? value : throw at.Unexpected("a GUID of 36 characters");
    }

    private static void WriteDateTime(ref MessagePackWriter writer, DateTime value)
    {
        if (value.Kind == DateTimeKind.Local)
        {
            if (writer.Canonical) throw new ContractException(typeof(DateTime), "is a local time here, which means another instant on another machine; use UTC.");
            value = value.ToUniversalTime();
        }
        writer.WriteTimestamp(value.Ticks / TimeSpan.TicksPerSecond + MinSeconds, (int)(value.Ticks % TimeSpan.TicksPerSecond) * 100);
    }

    private static DateTime ReadDateTime(ref MessagePackReader reader)
    {
        var at = reader;
        (long seconds, int nanoseconds) = reader.ReadTimestamp();
        return seconds is < MinSeconds or > MaxSeconds
            ? throw at.Unexpected("a time of the years 1 to 9999")
            : new((seconds - MinSeconds) * TimeSpan.TicksPerSecond + nanoseconds / 100, DateTimeKind.Utc);
    }

    private static void WriteDateTimeOffset(ref MessagePackWriter writer, DateTimeOffset value)
    {
        if (writer.Canonical) value = value.ToUniversalTime();
        writer.WriteArrayHeader(2);
        WriteDateTime(ref writer, new DateTime(value.Ticks, DateTimeKind.Utc));
        writer.WriteInt((short)value.Offset.TotalMinutes);
    }

    private static DateTimeOffset ReadDateTimeOffset(ref MessagePackReader reader)
    {
        var at = reader;
        if (reader.ReadArrayHeader() != 2) throw at.Unexpected("a time with its offset (2 values)");
        DateTime local = ReadDateTime(ref reader);
        return new(local.Ticks, TimeSpan.FromMinutes(reader.ReadWithin(-14 * 60, 14 * 60)));
    }
}
