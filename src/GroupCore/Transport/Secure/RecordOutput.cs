namespace GroupCore.Transport.Secure;

/// <summary>Bytes of records that were made and not sent yet, in one array, which grows to what its user writes between two sends.</summary>
/// <param name="pinned">Whether a socket may be given the address of the bytes.</param>
internal sealed class RecordOutput(bool pinned)
{
    private byte[] _bytes = [];

    /// <summary>How many bytes wait.</summary>
    public int Count { get; private set; }

    /// <summary>The bytes that wait.</summary>
    public ArraySegment<byte> Bytes => new(_bytes, 0, Count);

    public void Add(ReadOnlySpan<byte> bytes)
    {
        int needed = Count + bytes.Length;
        if (needed > _bytes.Length)
        {
            byte[] larger = GC.AllocateUninitializedArray<byte>(Math.Max(needed, 2 * _bytes.Length), pinned);
            Bytes.AsSpan().CopyTo(larger);
            _bytes = larger;
        }
        bytes.CopyTo(_bytes.AsSpan(Count));
        Count = needed;
    }

    /// <summary>Forgets all bytes and keeps the array.</summary>
    public void Clear() => Count = 0;

    /// <summary>Forgets all bytes, and the array if it is larger than this.</summary>
    public void Clear(int most)
    {
        Count = 0;
        if (_bytes.Length > most) _bytes = [];
    }
}
