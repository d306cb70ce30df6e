using System.Buffers;
using GroupCore.Wire.MessagePack;

namespace GroupCore.Tests.Wire;

/// <summary>Hand-checked bytes of the format's specification, on both kinds of destination.</summary>
public sealed class MessagePackWriterTests
{
    internal delegate void Writing(ref MessagePackWriter writer);

    internal static byte[] Write(Writing what)
    {
        var into = new ArrayBufferWriter<byte>(1);
        var writer = new MessagePackWriter(into);
        what(ref writer);
        writer.Flush();
        Assert.Equal(into.WrittenCount, writer.Written);

        var exact = new byte[into.WrittenCount];
        var same = new MessagePackWriter(exact.AsSpan());
        what(ref same);
        Assert.True(same.Fits);
        Assert.Equal(exact.Length, same.Written);
        Assert.Equal(into.WrittenSpan, exact);
        return exact;
    }

    private static string Hex(Writing what) => Convert.ToHexString(Write(what));

    [Theory]
    [InlineData(0, "00"), InlineData(127, "7F"), InlineData(128, "CC80"), InlineData(255, "CCFF"), InlineData(256, "CD0100")]
    [InlineData(65535, "CDFFFF"), InlineData(65536, "CE00010000"), InlineData(4294967295, "CEFFFFFFFF"), InlineData(4294967296, "CF0000000100000000")]
    [InlineData(long.MaxValue, "CF7FFFFFFFFFFFFFFF"), InlineData(-1, "FF"), InlineData(-32, "E0"), InlineData(-33, "D0DF"), InlineData(-128, "D080")]
    [InlineData(-129, "D1FF7F"), InlineData(-32768, "D18000"), InlineData(-32769, "D2FFFF7FFF"), InlineData(int.MinValue, "D280000000")]
    [InlineData(int.MinValue - 1L, "D3FFFFFFFF7FFFFFFF"), InlineData(long.MinValue, "D38000000000000000")]
    public void Integers_take_the_shortest_form(long value, string hex) =>
        Assert.Equal(hex, Hex((ref w) => w.WriteInt(value)));

    [Fact]
    public void Unsigned_above_the_signed_range() => Assert.Equal("CFFFFFFFFFFFFFFFFF", Hex((ref w) => w.WriteUInt(ulong.MaxValue)));

    [Fact]
    public void Nil_booleans_and_floats() => Assert.Equal("C0C2C3CA3FC00000CBBFF8000000000000", Hex((ref w) =>
    {
        w.WriteNil();
        w.WriteBoolean(false);
        w.WriteBoolean(true);
        w.WriteSingle(1.5f);
        w.WriteDouble(-1.5);
    }));

    [Theory]
    [InlineData(0, "A0"), InlineData(31, "BF"), InlineData(32, "D920"), InlineData(255, "D9FF"), InlineData(256, "DA0100"), InlineData(65535, "DAFFFF"), InlineData(65536, "DB00010000")]
    public void Text_headers(int length, string header)
    {
        string text = new('x', length);
        Assert.Equal(header, Hex((ref w) => w.WriteString(text))[..header.Length]);
        Assert.Equal(Write((ref w) => w.WriteString(text)), Write((ref w) => w.WriteUtf8(System.Text.Encoding.UTF8.GetBytes(text))));
    }

    [Fact]
    public void Text_counts_bytes_not_characters()
    {
        Assert.Equal("A7C3A4E282AC6161", Hex((ref w) => w.WriteString("ä€aa")));
        Assert.Equal("D921", Hex((ref w) => w.WriteString(new string('€', 11)))[..4]);
        Assert.Equal("A4F09F8D8E", Hex((ref w) => w.WriteString("🍎")));
        Assert.Equal("A3EFBFBD", Hex((ref w) => w.WriteString("\uD83C")));
    }

    [Theory]
    [InlineData(0, "C400"), InlineData(255, "C4FF"), InlineData(256, "C50100"), InlineData(65536, "C600010000")]
    public void Binary_headers(int length, string header) => Assert.Equal(header, Hex((ref w) => w.WriteBinary(new byte[length]))[..header.Length]);

    [Theory]
    [InlineData(0, "90", "80"), InlineData(15, "9F", "8F"), InlineData(16, "DC0010", "DE0010"), InlineData(65535, "DCFFFF", "DEFFFF"), InlineData(65536, "DD00010000", "DF00010000")]
    public void Container_headers(int count, string array, string map)
    {
        Assert.Equal(array, Hex((ref w) => w.WriteArrayHeader(count)));
        Assert.Equal(map, Hex((ref w) => w.WriteMapHeader(count)));
    }

    [Theory]
    [InlineData(0, "C70005"), InlineData(1, "D405"), InlineData(2, "D505"), InlineData(3, "C70305"), InlineData(4, "D605"), InlineData(8, "D705"), InlineData(16, "D805")]
    [InlineData(17, "C71105"), InlineData(256, "C8010005"), InlineData(65536, "C90001000005")]
    public void Extension_headers(int length, string header) => Assert.Equal(header, Hex((ref w) => w.WriteExtension(5, new byte[length]))[..header.Length]);

    [Theory]
    [InlineData(1, 0, "D6FF00000001"), InlineData(uint.MaxValue, 0, "D6FFFFFFFFFF"), InlineData(1, 1, "D7FF0000000400000001")]
    [InlineData(0x1_0000_0000, 0, "D7FF0000000100000000"), InlineData(0x3_FFFF_FFFF, 999_999_999, "D7FFEE6B27FFFFFFFFFF")]
    [InlineData(0x4_0000_0000, 0, "C70CFF000000000000000400000000"), InlineData(-1, 5, "C70CFF00000005FFFFFFFFFFFFFFFF")]
    public void Timestamps_take_4_8_or_12_bytes(long seconds, int nanoseconds, string hex) =>
        Assert.Equal(hex, Hex((ref w) => w.WriteTimestamp(seconds, nanoseconds)));

    [Fact]
    public void What_does_not_fit_is_refused_and_nothing_is_written_beyond_the_span()
    {
        byte[] whole = Write((ref w) => WriteOneOfEach(ref w));
        for (int room = 0; room < whole.Length; room++)
        {
            var bytes = new byte[whole.Length];
            var writer = new MessagePackWriter(bytes.AsSpan(0, room));
            WriteOneOfEach(ref writer);
            Assert.False(writer.Fits);
            Assert.All(bytes[room..], b => Assert.Equal(0, b));
            bool threw = false;
            try
            {
                _ = writer.Written;
            }
            catch (InvalidOperationException e)
            {
                threw = e.Message.Contains($"{room} bytes", StringComparison.Ordinal);
            }
            Assert.True(threw);
        }
    }

    [Fact]
    public void Taken_room_is_filled_by_the_caller() => Assert.Equal("C4020102", Hex((ref w) =>
    {
        w.WriteBinaryHeader(2);
        var room = w.Take(2);
        room[0] = 1;
        room[1] = 2;
    }));

    internal static void WriteOneOfEach(ref MessagePackWriter w)
    {
        w.WriteArrayHeader(13);
        w.WriteNil();
        w.WriteBoolean(true);
        w.WriteInt(-1);
        w.WriteInt(-1000);
        w.WriteUInt(200);
        w.WriteUInt(ulong.MaxValue);
        w.WriteSingle(1.5f);
        w.WriteDouble(2.5);
        w.WriteString("text");
        w.WriteString("a longer text, of more than ten characters");
        w.WriteBinary([1, 2, 3]);
        w.WriteMapHeader(1);
        w.WriteUtf8("k"u8);
        w.WriteExtension(7, [9, 9, 9]);
        w.WriteTimestamp(1, 1);
    }
}
