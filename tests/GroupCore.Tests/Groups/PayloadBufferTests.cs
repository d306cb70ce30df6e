using GroupCore.Groups.Buffers;

namespace GroupCore.Tests.Groups;

/// <summary>How the buffer of a call or a state grows.</summary>
public sealed class PayloadBufferTests
{
    [Theory]
    [InlineData(100, 1, 256, 512)]
    [InlineData(256, 10_000, 256, 10_256)]
    [InlineData((1 << 30) - 1, 2, 1 << 30, int.MaxValue)]
    [InlineData(1 << 30, 0, 1 << 30, int.MaxValue)]
    [InlineData(2_000_000_000, 147_000_000, 2_000_000_000, int.MaxValue)]
    public void A_buffer_doubles_as_far_as_arrays_go(int length, int hint, int size, int next) =>
        Assert.Equal(Math.Min(next, Array.MaxLength), PayloadBuffer.SizeFor(length, hint, size));

    [Theory]
    [InlineData(2_000_000_000, 200_000_000)]
    [InlineData(int.MaxValue - 56, 0)]
    public void What_no_array_holds_is_refused(int length, int hint) => Assert.Throws<InvalidOperationException>(() => PayloadBuffer.SizeFor(length, hint, length));
}
