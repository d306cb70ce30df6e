using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Tests;

public sealed class FilledBytesTests
{
    [Theory]
    [InlineData(16), InlineData(17), InlineData(24), InlineData(100), InlineData(1000), InlineData(1023)]
    public void Any_changed_byte_is_seen_and_the_words_come_back(int size)
    {
        byte[] bytes = new byte[size];
        FilledBytes.Write(bytes, 42, 77);
        Assert.True(FilledBytes.TryRead(bytes, out ulong first, out ulong second));
        Assert.Equal((42UL, 77UL), (first, second));
        // Without filled bytes there is nothing to check the words against.
        for (int i = 0; i < size && size > FilledBytes.Least; i++)
        {
            bytes[i] ^= 1;
            Assert.False(FilledBytes.TryRead(bytes, out _, out _), $"byte {i}");
            bytes[i] ^= 1;
        }
    }

    [Fact]
    public void Half_of_one_and_half_of_another_is_neither()
    {
        byte[] one = new byte[100], other = new byte[100];
        FilledBytes.Write(one, 1, 1);
        FilledBytes.Write(other, 1, 2);
        other.AsSpan(50).CopyTo(one.AsSpan(50));
        Assert.False(FilledBytes.TryRead(one, out _, out _));
    }

    [Fact]
    public void What_is_too_short_is_refused() => Assert.False(FilledBytes.TryRead(new byte[15], out _, out _));
}
