namespace GroupCore.Groups.PointToPoint;

/// <summary>
/// Entries under ascending numbers, closed in any order. The ring has room for the open entries and as much again. Instead of growing further it squeezes out
/// closed entries behind one that stays open for long. From then on numbers have gaps, and an entry has to be searched for.
/// </summary>
internal sealed class OpenRing<T>(ulong first)
    where T : struct, IOpenEntry
{
    private const int Least = 16;
    private T[] _ring = [];
    private int _head;

    // Includes closed entries between open ones; the first entry is open.
    private int _length;

    /// <summary>Number of the next entry.</summary>
    public ulong Next { get; private set; } = first;

    /// <summary>How many entries are open.</summary>
    public int Count { get; private set; }

    /// <summary>Entries that it has places for; for checks.</summary>
    public int Places => _ring.Length;

    /// <summary>The least open number; <see cref="Next"/> when none is open.</summary>
    public ulong First => _length == 0 ? Next : At(0).Number;

    /// <summary>An open entry.</summary>
    public ref T this[ulong number] => ref At(PlaceOf(number));

    public bool IsOpen(ulong number) => PlaceOf(number) is var place && place < _length && At(place) is { Open: true } found && found.Number == number;

    /// <summary>Adds an open entry; returns its number.</summary>
    public ulong Add(T entry)
    {
        if (_length == _ring.Length)
        {
            if (Count * 2 >= _length) Resize(Math.Max(Least, _length * 2));
            else Squeeze();
        }
        entry.Number = Next;
        At(_length++) = entry;
        Count++;
        return Next++;
    }

    /// <summary>Skips the next number.</summary>
    public void Skip() => Next++;

    public void Close(ulong number)
    {
        // The entry keeps nothing alive; its number stays, for the order.
        this[number] = new() { Number = number };
        Count--;
        for (; _length > 0 && !At(0).Open; _length--) _head = (_head + 1) & (_ring.Length - 1);
    }

    /// <summary>Goes on to the first open number that is not below <paramref name="number"/>; false for none.</summary>
    public bool TryNext(ref ulong number)
    {
        for (int place = PlaceOf(number); place < _length; place++)
        {
            if (!At(place).Open) continue;
            number = At(place).Number;
            return true;
        }
        return false;
    }

    /// <summary>Releases memory that it does not need.</summary>
    public void Trim()
    {
        if (Count == 0) _ring = [];
        else if (Count * 4 <= _ring.Length && _ring.Length > Least) Resize((int)System.Numerics.BitOperations.RoundUpToPowerOf2((uint)Math.Max(Least, Count * 2)));
    }

    private ref T At(int place) => ref _ring[(_head + place) & (_ring.Length - 1)];

    /// <summary>The first place whose number is not below <paramref name="number"/>.</summary>
    private int PlaceOf(ulong number)
    {
        ulong offset = number - First;
        if (_length == 0 || number < First) return 0;
        // Without gaps the entry is at this place.
        int high = (int)Math.Min(offset, (ulong)_length), low = 0;
        if (high < _length && At(high).Number == number) return high;
        while (low < high)
        {
            int middle = (low + high) >>> 1;
            if (At(middle).Number < number) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    private void Squeeze()
    {
        int count = 0;
        for (int i = 0; i < _length; i++)
            if (At(i).Open) At(count++) = At(i);
        for (int i = count; i < _length; i++) At(i) = default;
        _length = count;
    }

    private void Resize(int places)
    {
        Squeeze();
        var ring = new T[places];
        for (int i = 0; i < _length; i++) ring[i] = At(i);
        (_ring, _head) = (ring, 0);
    }
}
