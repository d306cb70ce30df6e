using System.Buffers;

namespace GroupCore.Groups.Multicast;

/// <summary>Bytes of one call, kept between calls up to 64 KB.</summary>
internal sealed class PayloadBuffer : IBufferWriter<byte>
{
    private const int Kept = 64 << 10;
    private byte[] _bytes = [];

    public int Length { get; private set; }

    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, Length);

    public void Advance(int count) => Length += count;

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

    /// <summary>Ready for another call.</summary>
    public void Reset()
    {
        Length = 0;
        if (_bytes.Length <= Kept) return;
        ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = [];
    }

    private void Grow(int sizeHint)
    {
        int needed = Length + Math.Max(sizeHint, 1);
        if (needed <= _bytes.Length) return;
        byte[] larger = ArrayPool<byte>.Shared.Rent(Math.Max(needed, Math.Max(256, _bytes.Length * 2)));
        _bytes.AsSpan(0, Length).CopyTo(larger);
        if (_bytes.Length > 0) ArrayPool<byte>.Shared.Return(_bytes);
        _bytes = larger;
    }
}
