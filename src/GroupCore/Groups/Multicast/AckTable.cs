namespace GroupCore.Groups.Multicast;

/// <summary>
/// What each member has acknowledged of each sender in a view. A sender has a row only while some of its messages are not stable: without a
/// row all members have acknowledged what is dropped here (<see cref="SenderLog.Base"/>). So a group at rest holds one reference for each member.
/// </summary>
internal sealed class AckTable(SenderLog[] logs)
{
    private readonly uint[]?[] _rows = new uint[]?[logs.Length];

    public uint this[int member, int sender] => _rows[sender] is { } row ? row[member] : logs[sender].Base;

    public ref uint At(int member, int sender)
    {
        var row = _rows[sender];
        if (row is null)
        {
            row = _rows[sender] = new uint[logs.Length];
            Array.Fill(row, logs[sender].Base);
        }
        return ref row[member];
    }

    /// <summary>The least that any member but the sender has acknowledged; the sender counts too when it is <paramref name="self"/>.</summary>
    public uint Stable(int sender, int self)
    {
        if (_rows[sender] is not { } row) return logs[sender].Base;
        uint stable = uint.MaxValue;
        for (int q = 0; q < row.Length; q++)
            if (q != sender || q == self) stable = Math.Min(stable, row[q]);
        return stable;
    }

    /// <summary>Gives up the rows of those senders whose messages are all stable.</summary>
    public void Trim(int self)
    {
        for (int s = 0; s < logs.Length; s++)
            if (_rows[s] is { } row && logs[s].Count == 0 && IsAll(row, s, self)) _rows[s] = null;
    }

    // Another member may have acknowledged messages that have not arrived here yet.
    private bool IsAll(uint[] row, int sender, int self)
    {
        for (int q = 0; q < row.Length; q++)
            if ((q != sender || q == self) && row[q] != logs[sender].Base) return false;
        return true;
    }
}
