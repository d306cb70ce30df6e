namespace GroupCore.Groups.Multicast;

/// <summary>
/// The total order of a view as far as it is known here: position to message. Positions below <see cref="Base"/> are closed at every
/// member and delivered here. Source: multicast.md#only-closed-messages-are-delivered-and-acknowledged, #one-sequencer-gives-all-positions.
/// </summary>
internal sealed class OrderLog
{
    private (ushort Rank, uint Seq)[] _ring = [];

    public uint Base { get; private set; }

    /// <summary>Positions below are closed at every member; a member without state keeps them nevertheless.</summary>
    public uint Stable { get; private set; }

    public uint Length { get; private set; }

    public uint Closed { get; set; }

    public uint Delivered { get; set; }

    public int Count => (int)(Length - Base);

    public (ushort Rank, uint Seq) this[uint position] => _ring[position & (uint)(_ring.Length - 1)];

    public void Append(int rank, uint seq)
    {
        if (Count == _ring.Length)
        {
            var larger = new (ushort, uint)[Math.Max(64, _ring.Length * 2)];
            for (uint x = Base; x != Length; x++) larger[x & (uint)(larger.Length - 1)] = this[x];
            _ring = larger;
        }
        _ring[Length & (uint)(_ring.Length - 1)] = ((ushort)rank, seq);
        Length++;
    }

    public void DropBelow(uint limit)
    {
        Stable = Math.Max(Stable, limit);
        uint to = Math.Min(limit, Delivered);
        if (to > Base) Base = to;
    }

    /// <summary>Gives its ring back when it is empty.</summary>
    public void Trim()
    {
        if (Count == 0) _ring = [];
    }

    /// <summary>Forgets positions from <paramref name="length"/> on.</summary>
    public void Truncate(uint length)
    {
        if (length < Length) Length = Math.Max(length, Base);
    }
}
