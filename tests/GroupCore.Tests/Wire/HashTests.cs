using System.Text;
using GroupCore.Wire;

namespace GroupCore.Tests.Wire;

/// <summary>Published vectors of both functions.</summary>
public sealed class HashTests
{
    [Theory]
    [InlineData("", 0, 0xEF46DB3751D8E999), InlineData("", 1, 0xD5AFBA1336A3BE4B), InlineData("a", 0, 0xD24EC4F1A98C6E5B), InlineData("as", 0, 0x1C330FB2D66BE179)]
    [InlineData("asd", 0, 0x631C37CE72A97393), InlineData("asdf", 0, 0x415872F599CEA71E), InlineData("abc", 0, 0x44BC2CF5AD770999)]
    [InlineData("Call me Ishmael. Some years ago--never mind how long precisely-", 0, 0x02A2E85470D6FD96)]
    public void XxHash64_of_text(string text, ulong seed, ulong hash) => Assert.Equal(hash, XxHash64.Hash(Encoding.ASCII.GetBytes(text), seed));

    /// <summary>The sanity buffer and its values from the reference implementation's own self-test.</summary>
    [Theory]
    [InlineData(0, 0UL, 0xEF46DB3751D8E999), InlineData(0, 2654435761UL, 0xAC75FDA2929B17EF), InlineData(1, 0UL, 0xE934A84ADB052768), InlineData(1, 2654435761UL, 0x5014607643A9B4C3)]
    [InlineData(4, 0UL, 0x9136A0DCA57457EE), InlineData(14, 0UL, 0x8282DCC4994E35C8), InlineData(14, 2654435761UL, 0xC3BD6BF63DEB6DF0)]
    [InlineData(222, 0UL, 0xB641AE8CB691C174), InlineData(222, 2654435761UL, 0x20CB8AB7AE10C14A)]
    public void XxHash64_of_the_sanity_buffer(int length, ulong seed, ulong hash)
    {
        var buffer = new byte[length];
        ulong generator = 2654435761;
        for (int i = 0; i < length; i++)
        {
            buffer[i] = (byte)(generator >> 56);
            generator *= 11400714785074694797;
        }
        Assert.Equal(hash, XxHash64.Hash(buffer, seed));
    }

    [Fact]
    public void Crc32C_of_the_published_vectors()
    {
        Assert.Equal(0xE3069283u, Crc32C.Compute("123456789"u8));
        Assert.Equal(0x8A9136AAu, Crc32C.Compute(new byte[32]));
        Assert.Equal(0x62A8AB43u, Crc32C.Compute(Enumerable.Repeat((byte)0xFF, 32).ToArray()));
        Assert.Equal(0x46DD794Eu, Crc32C.Compute([.. Enumerable.Range(0, 32).Select(i => (byte)i)]));
        Assert.Equal(0u, Crc32C.Compute([]));
    }

    [Fact]
    public void Crc32C_continues()
    {
        byte[] bytes = [.. Enumerable.Range(0, 100).Select(i => (byte)(i * 7))];
        for (int cut = 0; cut <= bytes.Length; cut++)
            Assert.Equal(Crc32C.Compute(bytes), Crc32C.Compute(bytes.AsSpan(cut), Crc32C.Compute(bytes.AsSpan(0, cut))));
    }
}
