using System.Buffers;
using System.Collections.Concurrent;

namespace GroupCore.Groups.Buffers;

/// <summary>
/// The bytes of many messages, shared by the message store and the dispatcher, and given back when nobody holds a message in it. The loop fills
/// it and counts the messages that it stores without atomics. An atomic count covers the loop as a whole and what the dispatcher holds, which
/// workers release. (Slabs of the transport never leave the loop and are counted without atomics.) Slabs of the ordinary size are kept, with their
/// bytes, in a pool of their own: the runtime's shared array pool is trimmed when memory is short, and the arrays would be made again at once.
/// </summary>
internal sealed class MessageSlab
{
    public const int Size = 128 << 10;
    private const int Pooled = 128;
    private static readonly ConcurrentQueue<MessageSlab> s_pool = new();
    private static int s_pooled;
    private int _holders = 1;
    private int _stored;
    private int _storedBytes;

    private MessageSlab(byte[] bytes) => Bytes = bytes;

    public byte[] Bytes { get; private set; }

    /// <summary>Where the next message goes; written by the loop only.</summary>
    public int Used { get; set; }

    public int Free => Bytes.Length - Used;

    /// <summary>Whether nobody but its filler holds it, so that it may be filled from the start again.</summary>
    public bool Alone => Volatile.Read(ref _holders) == 1;

    /// <summary>Whether the messages stored in it take less than a quarter of its bytes.</summary>
    public bool IsSparse => _storedBytes * 4L < Bytes.Length;

    /// <summary>A slab with room for at least <paramref name="size"/> bytes, held by the caller.</summary>
    public static MessageSlab Rent(int size = Size)
    {
        if (size > Size) return new(ArrayPool<byte>.Shared.Rent(size));
        if (!s_pool.TryDequeue(out var slab)) return new(GC.AllocateUninitializedArray<byte>(Size));
        Interlocked.Decrement(ref s_pooled);
        (slab.Used, slab._stored, slab._storedBytes) = (0, 0, 0);
        Volatile.Write(ref slab._holders, 1);
        return slab;
    }

    /// <summary>The loop has stored one more message in it.</summary>
    public void Store(int bytes)
    {
        _storedBytes += bytes;
        if (_stored++ == 0) Hold(1);
    }

    /// <summary>The loop has dropped one message in it.</summary>
    public void Drop(int bytes)
    {
        _storedBytes -= bytes;
        if (--_stored == 0) Release(1);
    }

    public void Hold(int count) => Interlocked.Add(ref _holders, count);

    public void Release(int count)
    {
        if (Interlocked.Add(ref _holders, -count) != 0) return;
        if (Bytes.Length == Size)
        {
            if (Interlocked.Increment(ref s_pooled) <= Pooled) s_pool.Enqueue(this);
            else Interlocked.Decrement(ref s_pooled);
            return;
        }
        byte[] bytes = Bytes;
        Bytes = [];
        ArrayPool<byte>.Shared.Return(bytes);
    }
}
