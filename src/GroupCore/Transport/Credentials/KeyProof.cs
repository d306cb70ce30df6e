using System.Security.Cryptography;
using System.Text;

namespace GroupCore.Transport.Credentials;

/// <summary>
/// How both ends of a TLS connection show each other that they have the cluster key, inside the connection. Each end's proof is an HMAC-SHA256 under the key over its role, the cluster's name,
/// the digests of both certificates and both ends' random numbers. So a proof says nothing about the key, fits no other connection (an attacker between the two would
/// have to show certificates of his own), no other cluster, and cannot be sent back.
/// </summary>
/// <remarks>
/// Dialler: random number, ids of up to two keys, the one it prefers first. Acceptor: random number, id of the key, proof. Dialler: proof. Acceptor: one byte, 1 if the dialler is in. An end that finds something
/// wrong closes the connection; an acceptor without a key that the dialler has answers zeros before, so that the dialler knows why. The acceptor takes the first key of the dialler that it has too: while a key is replaced both ends have two.
/// Source: links.md#the-cluster-key.
/// </remarks>
internal static class KeyProof
{
    public const int KeyBytes = 32;
    public const int MostKeys = 2;
    public const int NonceBytes = 32;
    public const int IdBytes = 8;
    public const int ProofBytes = HMACSHA256.HashSizeInBytes;

    /// <summary>Bytes of the dialler's first message; the place of a second key's id is filled with zeros if there is none.</summary>
    public const int QuestionBytes = NonceBytes + (MostKeys * IdBytes);

    /// <summary>Bytes of the acceptor's answer to it.</summary>
    public const int AnswerBytes = NonceBytes + IdBytes + ProofBytes;

    private static readonly byte[] IdLabel = "ida cluster key id"u8.ToArray();

    /// <summary>What names a key to an end that has it too, and tells others nothing about it.</summary>
    public static void WriteId(ReadOnlySpan<byte> key, Span<byte> to)
    {
        Span<byte> whole = stackalloc byte[ProofBytes];
        HMACSHA256.HashData(key, IdLabel, whole);
        whole[..IdBytes].CopyTo(to);
    }

    /// <summary>The proof of one end.</summary>
    /// <param name="key">The cluster key.</param>
    /// <param name="ofDialler">Whether the end dialled.</param>
    /// <param name="binding">What the connection is: see <see cref="Binding"/>.</param>
    /// <param name="diallersNonce">The dialler's random number.</param>
    /// <param name="acceptorsNonce">The acceptor's random number.</param>
    /// <param name="to">Where the proof goes, <see cref="ProofBytes"/>.</param>
    public static void Write(ReadOnlySpan<byte> key, bool ofDialler, ReadOnlySpan<byte> binding, ReadOnlySpan<byte> diallersNonce, ReadOnlySpan<byte> acceptorsNonce, Span<byte> to)
    {
        using var hash = IncrementalHash.CreateHMAC(HashAlgorithmName.SHA256, key);
        hash.AppendData(ofDialler ? "ida dialler 1"u8 : "ida acceptor 1"u8);
        hash.AppendData(binding);
        hash.AppendData(diallersNonce);
        hash.AppendData(acceptorsNonce);
        hash.GetHashAndReset(to);
    }

    /// <summary>Whether the proof is the one that the other end must send; takes the same time whatever is wrong with it.</summary>
    public static bool IsRight(ReadOnlySpan<byte> key, bool ofDialler, ReadOnlySpan<byte> binding, ReadOnlySpan<byte> diallersNonce, ReadOnlySpan<byte> acceptorsNonce, ReadOnlySpan<byte> proof)
    {
        Span<byte> right = stackalloc byte[ProofBytes];
        Write(key, ofDialler, binding, diallersNonce, acceptorsNonce, right);
        return CryptographicOperations.FixedTimeEquals(right, proof);
    }

    /// <summary>What a proof is bound to: the cluster and the certificates of both ends.</summary>
    public static byte[] Binding(string cluster, ReadOnlySpan<byte> diallersCertificate, ReadOnlySpan<byte> acceptorsCertificate)
    {
        Span<byte> binding = stackalloc byte[3 * SHA256.HashSizeInBytes];
        SHA256.HashData(Encoding.UTF8.GetBytes(cluster), binding);
        SHA256.HashData(diallersCertificate, binding[SHA256.HashSizeInBytes..]);
        SHA256.HashData(acceptorsCertificate, binding[(2 * SHA256.HashSizeInBytes)..]);
        return binding.ToArray();
    }
}
