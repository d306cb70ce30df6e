using System.Buffers;

namespace GroupCore.Groups.Buffers;

/// <summary>The bytes of one call. A buffer of up to 4 KB is kept for the next call; a larger one goes back, since operations wait in pools by the thousand.</summary>
internal sealed class PayloadBuffer : IBufferWriter<byte>
{
    private const int Least = 256;
    private const int Kept = 4 << 10;
    private byte[] _kept;
    private byte[] _bytes;

    public PayloadBuffer() => _bytes = _kept = ArrayPool<byte>.Shared.Rent(Least);

    public int Length { get; private set; }

    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, Length);

    public void Advance(int count)
    {
        // Users' serializers write here.
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)count, (uint)(_bytes.Length - Length), nameof(count));
        Length += count;
    }

    public Memory<byte> GetMemory(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _bytes.AsMemory(Length);
    }

    public Span<byte> GetSpan(int sizeHint = 0)
    {
        Grow(sizeHint);
        return _bytes.AsSpan(Length);
    }

    /// <summary>Forgets what was written from <paramref name="length"/> on.</summary>
    public void Cut(int length) => Length = Math.Min(Length, length);

    /// <summary>Makes it ready for another call.</summary>
    public void Reset()
    {
        Length = 0;
        if (ReferenceEquals(_bytes, _kept)) return;
        ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = _kept;
    }

    /// <summary>The size of the next array: twice this one's, up to the largest array there is.</summary>
    internal static int SizeFor(int length, int sizeHint, int size)
    {
        long needed = (long)length + Math.Max(sizeHint, 1);
        if (needed > Array.MaxLength) throw new InvalidOperationException($"No more than {Array.MaxLength} bytes can be written.");
        return (int)Math.Clamp(2L * size, needed, Array.MaxLength);
    }

    private void Grow(int sizeHint)
    {
        if (Math.Max(sizeHint, 1) <= _bytes.Length - Length) return;
        byte[] larger = ArrayPool<byte>.Shared.Rent(SizeFor(Length, sizeHint, _bytes.Length));
        _bytes.AsSpan(0, Length).CopyTo(larger);
        bool keep = larger.Length <= Kept;
        if (keep || !ReferenceEquals(_bytes, _kept)) ArrayPool<byte>.Shared.Return(_bytes);
        if (keep) _kept = larger;
        _bytes = larger;
    }
}
