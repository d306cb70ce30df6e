using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace GroupCore.Transport.Credentials;

/// <summary>
/// Who a node is, as its credentials show it. With <see cref="Security.Certificates"/> it is the name in the certificate; with a cluster key it is the digest of the key pair that the node made when
/// it started, since all who have the cluster key are equal.
/// </summary>
/// <param name="Name">The name: of a certificate <c>urn:ida:cluster:name</c>, else <c>key:</c> and 64 hexadecimal digits.</param>
public sealed record NodeIdentity(string Name)
{
    /// <summary>
    /// The id of the node with this identity that started under this number: the first 8 bytes of a SHA-256 over both, made odd since 0 is no id. So nobody can show another node's id without its
    /// credentials, and the id says nothing that would have to be remembered about it.
    /// </summary>
    internal ulong IdOf(ulong start)
    {
        Span<byte> digest = stackalloc byte[SHA256.HashSizeInBytes];
        byte[] text = new byte[sizeof(ulong) + Encoding.UTF8.GetByteCount(Name)];
        BinaryPrimitives.WriteUInt64LittleEndian(text, start);
        Encoding.UTF8.GetBytes(Name, text.AsSpan(sizeof(ulong)));
        SHA256.HashData(text, digest);
        return BinaryPrimitives.ReadUInt64LittleEndian(digest) | 1;
    }
}
