using System.Buffers.Binary;
using GroupCore.Wire;

namespace GroupCore.Transport.Mesh;

/// <summary>
/// Where frames are encoded: the reserved bytes lie in a shared slab, and a multicast's bytes stay there for all receivers. A small frame
/// for one peer is copied to that peer's own slab instead. So the shared slab has no holes (adjacent multicasts merge into one
/// piece), and a frame that waits long for one peer does not keep a slab with others' bytes.
/// </summary>
internal sealed class SendBuffer(SlabPool pool)
{
    private Slab _slab = pool.Rent(SlabPool.SmallBytes);
    private int _used;
    private int _reserved;

    /// <summary>Bytes of the slab that it holds; for checks.</summary>
    public int Bytes => _slab.Bytes.Length;

    /// <summary>Room for one frame; see <see cref="ILinks.Reserve"/>.</summary>
    public Span<byte> Reserve(int size)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(size, FrameHeader.Size);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(size, LinkLimits.FrameBytes);
        if (_slab.IsHeldOnce) _used = 0;
        if (_slab.Bytes.Length - _used < size)
        {
            _slab.Release();
            _slab = pool.Rent(Math.Max(size, SlabPool.SmallBytes));
            _used = 0;
        }
        _reserved = size;
        return _slab.Bytes.AsSpan(_used, size);
    }

    /// <summary>The first reserved bytes once more; see <see cref="ILinks.Reserved"/>.</summary>
    public Span<byte> Reserved(int size)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(size, _reserved);
        return _slab.Bytes.AsSpan(_used, size);
    }

    /// <summary>Checks that the reserved bytes hold one frame of <paramref name="length"/> bytes; once per reservation, before appending.</summary>
    public void Seal(int length)
    {
        if (length < FrameHeader.Size || length > _reserved)
            throw new ArgumentOutOfRangeException(nameof(length), length, $"A frame has {FrameHeader.Size} to {_reserved} bytes, at most as many as were reserved.");
        var frame = _slab.Bytes.AsSpan(_used, length);
        if (BinaryPrimitives.ReadInt32LittleEndian(frame) != length - 4 || frame[5] is (byte)FrameType.Hello or (byte)FrameType.HelloAck or (byte)FrameType.Segment)
            throw new ArgumentException($"The reserved bytes are no frame of {length} bytes: its header says length {BinaryPrimitives.ReadInt32LittleEndian(frame)}, type {frame[5]}.", nameof(length));
        _reserved = 0;
    }

    /// <summary>The sealed frame.</summary>
    public ReadOnlySpan<byte> Sealed(int length) => _slab.Bytes.AsSpan(_used, length);

    /// <summary>Queues the sealed frame for its only receiver.</summary>
    public void AppendOnly(LinkSession to, int length)
    {
        if (LinkSession.IsCopied(length))
        {
            to.AppendCopy(_slab.Bytes.AsSpan(_used, length));
            return;
        }
        AppendShared(to, length);
        Commit(length);
    }

    /// <summary>Queues the sealed frame for one of several receivers; <see cref="Commit"/> follows the last.</summary>
    public void AppendShared(LinkSession to, int length) => to.AppendSlice(_slab, _used, length);

    /// <summary>Keeps the sealed frame's bytes where they are; the next frame is encoded behind them.</summary>
    public void Commit(int length) => _used += length;

    /// <summary>Releases its own slab: nothing may be reserved any more.</summary>
    public void End() => _slab.Release();
}
