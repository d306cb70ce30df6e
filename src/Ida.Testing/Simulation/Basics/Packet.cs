namespace Ida.Testing;

/// <summary>One gathered write on its way, or bytes of one that wait to be read.</summary>
internal sealed class Packet
{
    public byte[] Bytes = new byte[256];
    public int Length;
    public int Read;
    public Packet? Next;

    /// <summary>The connection it was written to.</summary>
    public long Epoch;

    /// <summary>What carries it, when it is an event of its own.</summary>
    public DatagramChannel? Channel;

    /// <summary>Whether the stream ends with it.</summary>
    public bool Ends;

    /// <summary>Whether it says that the connection is no more.</summary>
    public bool Resets;

    public ReadOnlySpan<byte> Unread => Bytes.AsSpan(Read, Length - Read);

    public void Append(ReadOnlySpan<byte> bytes)
    {
        if (Length + bytes.Length > Bytes.Length) Array.Resize(ref Bytes, Math.Max(Bytes.Length * 2, Length + bytes.Length));
        bytes.CopyTo(Bytes.AsSpan(Length));
        Length += bytes.Length;
    }
}
