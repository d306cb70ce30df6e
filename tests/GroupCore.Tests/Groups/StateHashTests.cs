using GroupCore.Groups.State;

namespace GroupCore.Tests.Groups;

public sealed class StateHashTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(5)]
    [InlineData(8)]
    [InlineData(1_003)]
    public void R16_the_hash_of_a_state_is_the_same_in_any_pieces(int length)
    {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) bytes[i] = (byte)(i * 37);
        ulong whole = HashOf(bytes, Math.Max(1, length));
        foreach (int piece in new[] { 1, 3, 8, 13, 256 }) Assert.Equal(whole, HashOf(bytes, piece));
        for (int i = 0; i < length; i++)
        {
            bytes[i] ^= 1;
            Assert.NotEqual(whole, HashOf(bytes, 64));
            bytes[i] ^= 1;
        }
    }

    private static ulong HashOf(ReadOnlySpan<byte> bytes, int piece)
    {
        var hash = new StateHash();
        for (int at = 0; at < bytes.Length; at += piece) hash.Add(bytes.Slice(at, Math.Min(piece, bytes.Length - at)));
        return hash.Value;
    }
}
