namespace GroupCore.Transport.Mesh;

/// <summary>
/// The unacknowledged part of one outgoing stream: slices of slabs between two stream offsets, with a cursor where the next write
/// starts. Slices that follow each other in one slab merge, so a burst is one piece of a gathered write. Every slice ends where a frame ends.
/// </summary>
internal sealed class SliceQueue
{
    private const int Few = 16, Many = 1_024, Calm = 256;
    private Slice[] _ring = new Slice[Few];
    private int _head;
    private int _count;
    private int _cursor;
    private int _cursorAt;
    private int _calm;

    // A number: a reference would keep the slab until another one is shared, even if the slab's pool has let go of it.
    private long _lastShared;

    /// <summary>Offset of the first byte held: everything before is acknowledged.</summary>
    public long Head { get; private set; }

    /// <summary>Offset of the next byte to write.</summary>
    public long Cursor { get; private set; }

    /// <summary>Offset after the last byte held.</summary>
    public long End { get; private set; }

    /// <summary>Total size of the shared slabs that its slices keep, however little of each they use. A slab counts until the first slice in it is acknowledged.</summary>
    public long SharedBytes { get; private set; }

    /// <summary>Slices that it has places for; for checks.</summary>
    public int Places => _ring.Length;

    /// <summary>Whether its last slice from a shared slab lies in <paramref name="slab"/>.</summary>
    public bool SharesLast(Slab slab) => slab.Number == _lastShared;

    public void Append(Slab slab, int start, int length, bool shared)
    {
        End += length;
        if (_count > 0)
        {
            ref Slice last = ref At(_count - 1);
            if (last.Slab == slab && last.Start + last.Length == start)
            {
                last.Length += length;
                return;
            }
        }
        if (_count == _ring.Length) Renew(_count * 2);
        slab.AddReference();
        bool first = shared && !SharesLast(slab);
        if (first) SharedBytes += slab.Bytes.Length;
        if (shared) _lastShared = slab.Number;
        At(_count++) = new() { Slab = slab, Start = start, Length = length, IsFirst = first };
    }

    /// <summary>Lets go of everything before <paramref name="offset"/>, which lies between <see cref="Head"/> and <see cref="End"/>.</summary>
    public void TrimTo(long offset)
    {
        long left = offset - Head;
        Head = offset;
        while (left > 0)
        {
            ref Slice first = ref At(0);
            int taken = (int)Math.Min(left, first.Length);
            left -= taken;
            if (taken == first.Length)
            {
                if (first.IsFirst) SharedBytes -= first.Slab!.Bytes.Length;
                first.Slab!.Release();
                first.Slab = null;
                _head = (_head + 1) & (_ring.Length - 1);
                _count--;
                if (_cursor > 0) _cursor--;
                else _cursorAt = 0;
                continue;
            }
            first.Start += taken;
            first.Length -= taken;
            if (_cursor == 0) _cursorAt = Math.Max(0, _cursorAt - taken);
        }
        if (Cursor < offset) Seek(offset);
        // Not at once: otherwise each burst would allocate its places anew.
        if (_count == 0 && _ring.Length > Many && ++_calm >= Calm) Renew(Few);
    }

    /// <summary>Puts the cursor at <paramref name="offset"/>, between <see cref="Head"/> and <see cref="End"/>.</summary>
    public void Seek(long offset)
    {
        Cursor = Head;
        (_cursor, _cursorAt) = (0, 0);
        Advance(offset - Head);
    }

    /// <summary>Moves the cursor forward.</summary>
    public void Advance(long bytes)
    {
        Cursor += bytes;
        while (bytes > 0)
        {
            int here = (int)Math.Min(bytes, At(_cursor).Length - _cursorAt);
            _cursorAt += here;
            bytes -= here;
            // The cursor stays on the last slice, which may still grow.
            if (_cursorAt < At(_cursor).Length || _cursor + 1 >= _count) continue;
            _cursor++;
            _cursorAt = 0;
        }
    }

    /// <summary>End of the slices that one write takes: whole slices until <paramref name="bytes"/> or <paramref name="pieces"/> are reached.</summary>
    public long WriteEnd(int pieces, long bytes)
    {
        long end = Cursor;
        int at = _cursorAt;
        for (int i = _cursor; i < _count && pieces > 0 && end - Cursor < bytes; i++, at = 0)
        {
            int here = At(i).Length - at;
            if (here == 0) continue;
            end += here;
            pieces--;
        }
        return end;
    }

    /// <summary>Fills in the pieces from the cursor to <paramref name="end"/>; returns how many.</summary>
    public int Peek(Span<ArraySegment<byte>> pieces, long end)
    {
        int count = 0;
        long left = end - Cursor;
        int at = _cursorAt;
        for (int i = _cursor; left > 0; i++, at = 0)
        {
            ref Slice slice = ref At(i);
            int here = (int)Math.Min(left, slice.Length - at);
            if (here == 0) continue;
            pieces[count++] = new(slice.Slab!.Bytes, slice.Start + at, here);
            left -= here;
        }
        return count;
    }

    /// <summary>Moves all slices behind those of <paramref name="other"/>; only for a queue from which nothing was written.</summary>
    public void MoveTo(SliceQueue other)
    {
        for (int i = 0; i < _count; i++) other.Append(At(i).Slab!, At(i).Start, At(i).Length, At(i).IsFirst);
        Clear();
    }

    /// <summary>Copies all bytes to the start of <paramref name="slab"/> and lets go of all other slabs. A write under way goes on from there.</summary>
    public void MoveInto(Slab slab)
    {
        var (head, cursor) = (Head, Cursor);
        int length = 0;
        for (int i = 0; i < _count; i++)
        {
            ref Slice slice = ref At(i);
            slice.Slab!.Bytes.AsSpan(slice.Start, slice.Length).CopyTo(slab.Bytes.AsSpan(length));
            length += slice.Length;
        }
        Clear();
        Head = End = head;
        Append(slab, 0, length, shared: false);
        Seek(cursor);
    }

    /// <summary>Drops everything.</summary>
    public void Clear()
    {
        TrimTo(End);
        if (_ring.Length > Few) Renew(Few);
    }

    private ref Slice At(int index) => ref _ring[(_head + index) & (_ring.Length - 1)];

    private void Renew(int places)
    {
        var renewed = new Slice[places];
        for (int i = 0; i < _count; i++) renewed[i] = At(i);
        (_ring, _head, _calm) = (renewed, 0, 0);
    }

    private struct Slice
    {
        public Slab? Slab;
        public int Start;
        public int Length;

        // Whether it is the first slice of this queue in its shared slab.
        public bool IsFirst;
    }
}
