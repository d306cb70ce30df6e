using Ida.Wire;

namespace Ida.Tests;

/// <summary>Bytes of frames: whatever they are, reading ends with a value or a failure, and never goes beyond them.</summary>
public sealed class BodyReaderTests
{
    [Fact]
    public void What_is_written_is_read_in_the_same_order()
    {
        byte[] two = [9, 8], one = [7];
        var to = new BodyWriter(new byte[100]);
        to.U8(1);
        to.U16(0x0203);
        to.U64(0x0405060708090A0B);
        to.U128(new(3, 4));
        to.Blob(two);
        to.Raw(one);
        Assert.Equal("0103020B0A090807060504" + "04000000000000000300000000000000" + "020908" + "07", Convert.ToHexString(to.Written));
        var from = new BodyReader(to.Written);
        Assert.Equal((1, 0x0203, 0x0405060708090A0BUL), ((int)from.U8(), (int)from.U16(), from.U64()));
        Assert.Equal(new UInt128(3, 4), from.U128());
        Assert.Equal(two, from.Blob(2).ToArray());
        Assert.False(from.Complete);
        Assert.Equal((1, 7), (from.Remaining, (int)from.Bytes(1)[0]));
        Assert.True(from.Complete);
    }

    [Theory]
    [InlineData(0UL, 1)]
    [InlineData(127UL, 1)]
    [InlineData(128UL, 2)]
    [InlineData(16_383UL, 2)]
    [InlineData(16_384UL, 3)]
    [InlineData(1UL << 63, 10)]
    [InlineData(ulong.MaxValue, 10)]
    public void A_number_takes_as_many_bytes_as_it_has_sevens_of_bits(ulong value, int bytes)
    {
        var to = new BodyWriter(new byte[10]);
        to.Var(value);
        Assert.Equal(bytes, to.Length);
        var from = new BodyReader(to.Written);
        Assert.Equal(value, from.Var());
        Assert.True(from.Complete);
        var cut = new BodyReader(to.Written[..^1]);
        Assert.Equal((0UL, true), (cut.Var(), cut.Failed));
    }

    [Theory]
    [InlineData("")]
    [InlineData("80")]
    [InlineData("FFFFFFFFFFFFFFFFFF02")]
    [InlineData("8080808080808080808000")]
    public void A_number_that_has_no_end_or_more_than_64_bits_fails(string hex)
    {
        var from = new BodyReader(Convert.FromHexString(hex));
        Assert.Equal((0UL, true, 0), (from.Var(), from.Failed, from.Remaining));
    }

    [Fact]
    public void After_a_read_beyond_the_end_all_is_zero()
    {
        var from = Of(1, 2, 3);
        Assert.Equal(0UL, from.U64());
        Assert.Equal((0, 0, UInt128.Zero, 0UL, 0), ((int)from.U8(), (int)from.U16(), from.U128(), from.Var(), from.Remaining));
        Assert.True(from.Bytes(1).IsEmpty);
        Assert.Equal((true, false), (from.Failed, from.Complete));
    }

    /// <summary>So nobody allocates for what cannot come.</summary>
    [Theory]
    [InlineData(4, 10, 1, true)]
    [InlineData(4, 4, 1, true)]
    [InlineData(4, 3, 1, false)]
    [InlineData(4, 10, 2, false)]
    [InlineData(4, 10, 0, true)]
    public void A_count_is_at_most_what_may_be_and_what_the_rest_has_room_for(int count, int most, int each, bool taken)
    {
        var from = Of((byte)count, 0, 0, 0, 0);
        Assert.Equal((taken ? count : 0, !taken), (from.Count(most, each), from.Failed));
    }

    [Fact]
    public void A_length_beyond_the_bytes_or_the_bound_fails()
    {
        var longer = Of(3, 1, 2);
        Assert.True(longer.Blob(100).IsEmpty && longer.Failed);
        var bounded = Of(3, 1, 2, 3);
        Assert.True(bounded.Blob(2).IsEmpty && bounded.Failed);
        var negative = Of(3, 1, 2, 3);
        Assert.True(negative.Bytes(-1).IsEmpty && negative.Failed);
    }

    [Fact]
    public void A_user_that_finds_a_value_wrong_ends_the_reading()
    {
        var from = Of(1, 2);
        from.Fail();
        Assert.Equal((true, 0, 0), (from.Failed, from.Remaining, (int)from.U8()));
    }

    private static BodyReader Of(params byte[] bytes) => new(bytes);
}
