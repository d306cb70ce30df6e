using GroupCore.Wire.MessagePack;

namespace GroupCore.Tests.Wire;

public sealed class MessagePackReaderTests
{
    private static byte[] Hex(string hex) => Convert.FromHexString(hex);

    [Theory]
    [InlineData("00", 0), InlineData("7F", 127), InlineData("E0", -32), InlineData("CCFF", 255), InlineData("CDFFFF", 65535), InlineData("CEFFFFFFFF", uint.MaxValue)]
    [InlineData("CF7FFFFFFFFFFFFFFF", long.MaxValue), InlineData("D080", -128), InlineData("D18000", -32768), InlineData("D280000000", int.MinValue)]
    [InlineData("D38000000000000000", long.MinValue), InlineData("D300000000000000FF", 255), InlineData("CF0000000000000001", 1), InlineData("D001", 1)]
    public void Integers_in_any_form(string hex, long expected)
    {
        var reader = new MessagePackReader(Hex(hex));
        Assert.Equal(MessagePackType.Integer, reader.NextType);
        Assert.True(reader.TryReadInt64(out long value));
        Assert.Equal(expected, value);
        Assert.True(reader.AtEnd);
        reader = new(Hex(hex));
        Assert.Equal(expected >= 0, reader.TryReadUInt64(out ulong unsigned));
        if (expected >= 0) Assert.Equal((ulong)expected, unsigned);
    }

    [Fact]
    public void Integers_out_of_range_are_refused_and_stay()
    {
        var reader = new MessagePackReader(Hex("CFFFFFFFFFFFFFFFFF"));
        Assert.False(reader.TryReadInt64(out _));
        Assert.False(reader.TryReadInt32(out _));
        Assert.False(reader.TryReadWithin(long.MinValue, long.MaxValue, out _));
        Assert.Equal(0, reader.Position);
        Assert.True(reader.TryReadUInt64(out ulong value));
        Assert.Equal(ulong.MaxValue, value);
        reader = new(Hex("CD0100"));
        Assert.False(reader.TryReadByte(out _));
        Assert.True(reader.TryReadUInt16(out ushort word));
        Assert.Equal(256, word);
        reader = new(Hex("FF"));
        Assert.False(reader.TryReadUInt64(out _));
        Assert.False(reader.TryReadUInt32(out _));
        Assert.True(reader.TryReadInt32(out int minus));
        Assert.Equal(-1, minus);
    }

    [Fact]
    public void Floats_take_whole_numbers_too()
    {
        var reader = new MessagePackReader(Hex("CA3FC00000CBBFF80000000000000101CFFFFFFFFFFFFFFFFF"));
        Assert.Equal(1.5, reader.ReadDouble());
        Assert.Equal(-1.5f, reader.ReadSingle());
        Assert.Equal(1.0, reader.ReadDouble());
        Assert.Equal(1f, reader.ReadSingle());
        Assert.Equal(18446744073709551615.0, reader.ReadDouble());
    }

    [Fact]
    public void One_of_each_reads_back()
    {
        byte[] bytes = MessagePackWriterTests.Write((ref w) => MessagePackWriterTests.WriteOneOfEach(ref w));
        var reader = new MessagePackReader(bytes);
        Assert.Equal(13, reader.ReadArrayHeader());
        Assert.True(reader.TryReadNil());
        Assert.True(reader.ReadBoolean());
        Assert.Equal(-1, reader.ReadInt32());
        Assert.Equal(-1000, reader.ReadInt64());
        Assert.True(reader.TryReadByte(out byte small));
        Assert.Equal(200, small);
        Assert.Equal(ulong.MaxValue, reader.ReadUInt64());
        Assert.Equal(1.5f, reader.ReadSingle());
        Assert.Equal(2.5, reader.ReadDouble());
        Assert.True(reader.ReadUtf8().SequenceEqual("text"u8));
        Assert.Equal("a longer text, of more than ten characters", reader.ReadString());
        Assert.Equal(new byte[] { 1, 2, 3 }, reader.ReadBinary().ToArray());
        Assert.Equal(1, reader.ReadMapHeader());
        Assert.Equal("k", reader.ReadString());
        Assert.True(reader.TryReadExtension(out sbyte type, out var data));
        Assert.Equal(7, type);
        Assert.Equal(3, data.Length);
        Assert.Equal((1, 1), reader.ReadTimestamp());
        Assert.True(reader.AtEnd);
        reader = new(bytes);
        Assert.True(reader.TryReadRaw(out var raw));
        Assert.Equal(bytes, raw.ToArray());
    }

    [Fact]
    public void Every_truncation_is_refused()
    {
        byte[] bytes = MessagePackWriterTests.Write((ref w) =>
        {
            w.WriteArrayHeader(1);
            MessagePackWriterTests.WriteOneOfEach(ref w);
        });
        var whole = new MessagePackReader(bytes);
        Assert.True(whole.TrySkip());
        Assert.True(whole.AtEnd);
        for (int length = 0; length < bytes.Length; length++)
        {
            var reader = new MessagePackReader(bytes.AsSpan(0, length));
            Assert.False(reader.TrySkip());
            Assert.Equal(0, reader.Position);
        }
    }

    [Theory]
    [InlineData("DD7FFFFFFF00"), InlineData("DDFFFFFFFF00"), InlineData("DFFFFFFFFF00"), InlineData("DF8000000000"), InlineData("DBFFFFFFFF00"), InlineData("C6FFFFFFFF00")]
    [InlineData("C9FFFFFFFF0000"), InlineData("92")]
    public void Lengths_beyond_the_bytes_at_hand_are_refused(string hex)
    {
        var reader = new MessagePackReader(Hex(hex));
        Assert.False(reader.TryReadArrayHeader(out _));
        Assert.False(reader.TryReadMapHeader(out _));
        Assert.False(reader.TryReadUtf8(out _));
        Assert.False(reader.TryReadBinary(out _));
        Assert.False(reader.TryReadExtension(out _, out _));
        Assert.False(reader.TrySkip());
        Assert.Equal(0, reader.Position);
    }

    [Fact]
    public void Nesting_beyond_the_limit_is_refused()
    {
        byte[] deep = [.. Enumerable.Repeat((byte)0x91, MessagePackReader.MaxDepth), 0xC0];
        var reader = new MessagePackReader(deep);
        Assert.True(reader.TrySkip());
        byte[] deeper = [0x91, .. deep];
        reader = new(deeper);
        Assert.False(reader.TrySkip());
        for (int i = 0; i < MessagePackReader.MaxDepth; i++) Assert.True(reader.TryEnter());
        Assert.False(reader.TryEnter());
        Assert.True(reader.TryReadArrayHeader(out _));
        Assert.False(reader.TrySkip());
    }

    [Fact]
    public void Timestamps_out_of_form_are_refused()
    {
        foreach (string hex in new[] { "D4FF00", "D601FFFFFFFF", "D7FFFFFFFFFFFFFFFFFF", "C70CFF3B9ACA000000000000000000" })
        {
            var reader = new MessagePackReader(Hex(hex));
            Assert.False(reader.TryReadTimestamp(out _, out _));
            Assert.Equal(0, reader.Position);
        }
    }

    [Fact]
    public void Text_must_be_utf8()
    {
        var reader = new MessagePackReader(Hex("A2C328"));
        Assert.False(reader.TryReadString(out _));
        Assert.True(reader.TryReadUtf8(out var raw));
        Assert.Equal(2, raw.Length);
    }

    [Fact]
    public void The_throwing_readers_say_what_and_where()
    {
        static string Message(string hex, Action<MessagePackReader> read) => Assert.Throws<InvalidDataException>(() => read(new(Hex(hex)))).Message;
        Assert.Contains("true or false at byte 1 of 2, found Integer (0x05)", Message("0105", r =>
        {
            r.Skip();
            r.ReadBoolean();
        }), StringComparison.Ordinal);
        Assert.Contains("bytes end there", Message("", r => r.ReadString()), StringComparison.Ordinal);
        Assert.Contains("0xC1", Message("C1", r => r.ReadInt32()), StringComparison.Ordinal);
    }
}
