using System.Security.Cryptography;

namespace GroupCore.Basics;

/// <summary>Random numbers of the operating system, for what must differ from process to process: ids, names of sessions, seeds, secrets. Code that runs in turns never draws them.</summary>
internal static class Entropy
{
    public static ulong Next() => BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(8));

    public static byte[] Bytes(int count) => RandomNumberGenerator.GetBytes(count);

    public static void Fill(Span<byte> to) => RandomNumberGenerator.Fill(to);
}
