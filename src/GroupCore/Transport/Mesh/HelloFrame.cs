using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using GroupCore.Transport.Credentials;
using GroupCore.Wire;

namespace GroupCore.Transport.Mesh;

/// <summary>
/// First frame of a dialler. <paramref name="Expected"/> 0 asks only who is there, and names no session. <paramref name="Token"/> is the dialler's name of the
/// session and <paramref name="PeerToken"/> the acceptor's, if the dialler knows it (0: not yet), so that neither end resumes a session that the other has closed.
/// In a probe both tokens are digests (<see cref="Digest"/>): another node may listen there, and with the names it could resume the session itself. The second
/// digest leaves out the dialler's name, for an acceptor that has not learned it yet. <paramref name="Start"/> is the number that makes the dialler's id of its identity
/// (<see cref="NodeIdentity.IdOf"/>), 0 without credentials; it is the last field, which older nodes neither send nor read.
/// </summary>
internal readonly record struct HelloFrame(string Cluster, byte MinVersion, byte MaxVersion, bool Probe, ulong NodeId, ulong Expected,
    ulong Token, ulong PeerToken, long Received, string Listen, ulong Start = 0)
{
    /// <summary>The wire version this code speaks.</summary>
    public const byte Version = FrameHeader.Version >> 4;

    /// <summary>Longest cluster name or address in UTF-8.</summary>
    public const int MaxText = 255;

    /// <summary>The token in a Hello that only asks who is there; 0 would be refused.</summary>
    public const ulong NoName = 1;

    private const int Fixed = 3 + (5 * 8);

    /// <summary>Digest of both ends' ids and names of their session (0 for a name that one end does not know): the same at both ends, useless to any other node. Never 0.</summary>
    public static ulong Digest(ulong id, ulong token, ulong otherId, ulong otherToken)
    {
        if (id > otherId) return Digest(otherId, otherToken, id, token);
        Span<byte> names = stackalloc byte[4 * sizeof(ulong)], digest = stackalloc byte[SHA256.HashSizeInBytes];
        ReadOnlySpan<ulong> inOrder = [id, token, otherId, otherToken];
        for (int i = 0; i < inOrder.Length; i++) BinaryPrimitives.WriteUInt64LittleEndian(names[(i * sizeof(ulong))..], inOrder[i]);
        SHA256.HashData(names, digest);
        return BinaryPrimitives.ReadUInt64LittleEndian(digest) | 1;
    }

    public byte[] ToFrame()
    {
        int cluster = Encoding.UTF8.GetByteCount(Cluster), listen = Encoding.UTF8.GetByteCount(Listen);
        // Pinned: the socket is given the address of its bytes.
        var frame = GC.AllocateArray<byte>(FrameHeader.Size + Fixed + 2 + cluster + listen + sizeof(ulong), pinned: true);
        FrameHeader.Write(frame, FrameType.Hello, 0, 0, frame.Length - FrameHeader.Size);
        var body = frame.AsSpan(FrameHeader.Size);
        (body[0], body[1], body[2]) = (MinVersion, MaxVersion, Probe ? (byte)1 : (byte)0);
        BinaryPrimitives.WriteUInt64LittleEndian(body[3..], NodeId);
        BinaryPrimitives.WriteUInt64LittleEndian(body[11..], Expected);
        BinaryPrimitives.WriteUInt64LittleEndian(body[19..], Token);
        BinaryPrimitives.WriteUInt64LittleEndian(body[27..], PeerToken);
        BinaryPrimitives.WriteInt64LittleEndian(body[35..], Received);
        body = WriteText(body[Fixed..], Cluster, cluster);
        body = WriteText(body, Listen, listen);
        BinaryPrimitives.WriteUInt64LittleEndian(body, Start);
        return frame;
    }

    public static bool TryRead(ReadOnlySpan<byte> body, out HelloFrame hello)
    {
        hello = default;
        if (body.Length < Fixed) return false;
        var texts = body[Fixed..];
        if (!TryReadText(ref texts, out string cluster) || !TryReadText(ref texts, out string listen)) return false;
        hello = new(cluster, body[0], body[1], (body[2] & 1) != 0, BinaryPrimitives.ReadUInt64LittleEndian(body[3..]),
            BinaryPrimitives.ReadUInt64LittleEndian(body[11..]), BinaryPrimitives.ReadUInt64LittleEndian(body[19..]),
            BinaryPrimitives.ReadUInt64LittleEndian(body[27..]), BinaryPrimitives.ReadInt64LittleEndian(body[35..]), listen, ReadStart(texts));
        return hello is { NodeId: not 0, Token: not 0, Received: >= 0 } && hello.MinVersion <= hello.MaxVersion;
    }

    internal static ulong ReadStart(ReadOnlySpan<byte> from) => BinaryPrimitives.TryReadUInt64LittleEndian(from, out ulong start) ? start : 0;

    internal static Span<byte> WriteText(Span<byte> to, string text, int bytes)
    {
        to[0] = (byte)bytes;
        Encoding.UTF8.GetBytes(text, to[1..]);
        return to[(1 + bytes)..];
    }

    internal static bool TryReadText(ref ReadOnlySpan<byte> from, out string text)
    {
        text = "";
        if (from.Length < 1 || from.Length < 1 + from[0]) return false;
        text = Encoding.UTF8.GetString(from.Slice(1, from[0]));
        from = from[(1 + from[0])..];
        return true;
    }
}
