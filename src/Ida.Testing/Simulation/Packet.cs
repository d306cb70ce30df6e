namespace Ida.Testing;

/// <summary>One gathered write: whole frames, one after the other.</summary>
internal sealed class Packet
{
    public byte[] Bytes = new byte[256];
    public int Length;
    public int Read;
    public Packet? Next;

    public void Append(ReadOnlySpan<byte> frame)
    {
        if (Length + frame.Length > Bytes.Length) Array.Resize(ref Bytes, Math.Max(Bytes.Length * 2, Length + frame.Length));
        frame.CopyTo(Bytes.AsSpan(Length));
        Length += frame.Length;
    }
}
