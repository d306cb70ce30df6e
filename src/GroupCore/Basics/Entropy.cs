using System.Security.Cryptography;

namespace GroupCore.Basics;

/// <summary>Random numbers of the operating system, for what must differ from process to process: ids, names of sessions, seeds. Nothing that runs in turns draws them.</summary>
internal static class Entropy
{
    public static ulong Next() => BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(8));
}
