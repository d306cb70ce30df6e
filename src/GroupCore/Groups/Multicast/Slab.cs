using System.Buffers;

namespace GroupCore.Groups.Multicast;

/// <summary>
/// Bytes of many messages, shared by the message store and the dispatcher and given back when nobody holds a message of it. The loop
/// fills it and counts its own holders without atomics; one atomic count is for the loop as a whole and for what the dispatcher holds.
/// </summary>
internal sealed class Slab
{
    public const int Size = 128 << 10;
    private int _holders = 1;
    private int _stored;

    private Slab(byte[] bytes) => Bytes = bytes;

    public byte[] Bytes { get; private set; }

    /// <summary>Where the next message goes; written by the loop only.</summary>
    public int Used { get; set; }

    public int Free => Bytes.Length - Used;

    /// <summary>Whether only its filler holds it, so that it may be filled from the start again.</summary>
    public bool Alone => Volatile.Read(ref _holders) == 1;

    /// <summary>A slab with room for at least <paramref name="size"/> bytes, held by the caller.</summary>
    public static Slab Rent(int size = Size) => new(ArrayPool<byte>.Shared.Rent(size));

    /// <summary>The loop stores one more message of it.</summary>
    public void Store()
    {
        if (_stored++ == 0) Hold(1);
    }

    /// <summary>The loop drops one message of it.</summary>
    public void Drop()
    {
        if (--_stored == 0) Release(1);
    }

    public void Hold(int count) => Interlocked.Add(ref _holders, count);

    public void Release(int count)
    {
        if (Interlocked.Add(ref _holders, -count) != 0) return;
        byte[] bytes = Bytes;
        Bytes = [];
        ArrayPool<byte>.Shared.Return(bytes);
    }
}
