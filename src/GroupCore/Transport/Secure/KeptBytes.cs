namespace GroupCore.Transport.Secure;

/// <summary>Bytes that wait in a slab of their own, which is there only while they do.</summary>
internal struct KeptBytes
{
    private Slab? _slab;
    private int _start, _end;

    /// <summary>How many there are.</summary>
    public readonly int Count => _end - _start;

    /// <summary>The bytes.</summary>
    public readonly ReadOnlySpan<byte> Bytes => _slab is null ? default : _slab.Bytes.AsSpan(_start, Count);

    /// <summary>The same for a socket.</summary>
    public readonly ArraySegment<byte> Pinned => _slab is null ? default : new(_slab.Bytes, _start, Count);

    /// <summary>Bytes of the slab.</summary>
    public readonly int Room => _slab?.Bytes.Length ?? 0;

    /// <summary>Keeps these bytes; there are none before.</summary>
    public void Set(ReadOnlySpan<byte> bytes, SlabPool pool)
    {
        if (bytes.IsEmpty) return;
        _slab = pool.Rent(bytes.Length);
        bytes.CopyTo(_slab.Bytes);
        (_start, _end) = (0, bytes.Length);
    }

    /// <summary>The first of them are no longer needed.</summary>
    public void Drop(int count)
    {
        _start += count;
        if (_start < _end) return;
        _slab?.Release();
        (_slab, _start, _end) = (null, 0, 0);
    }
}
