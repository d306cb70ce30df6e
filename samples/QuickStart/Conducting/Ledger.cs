using QuickStart.Data;
using QuickStart.Protocol;

namespace QuickStart.Conducting;

/// <summary>Which rows were acknowledged, which member is in charge of which row, how long puts took, and the faults found.</summary>
internal sealed class Ledger(ZoneTable table)
{
    private readonly string?[] _owner = new string?[table.Rows.Count];
    private readonly StoredEvent?[] _stored = new StoredEvent?[table.Rows.Count];

    public int StoredRows { get; private set; }

    /// <summary>Number of rows that a survivor found stored although the member that stored them was killed before it could say so.</summary>
    public int FoundRows => _stored.Count(s => s is { Found: true });

    public List<(string Member, GapEvent Gap)> Gaps { get; } = [];

    public List<string> Faults { get; } = [];

    public void Assign(string member, IEnumerable<int> rows)
    {
        foreach (int row in rows) _owner[row] = member;
    }

    public void Stored(string member, StoredEvent stored)
    {
        // A line of the dead member can still arrive after its rows were given away. The row counts once, and its first line is kept.
        if (_stored[stored.Row] is null) StoredRows++;
        _stored[stored.Row] ??= stored;
        _owner[stored.Row] ??= member;
    }

    /// <summary>Rows that a member was in charge of and did not acknowledge.</summary>
    public int[] OpenRowsOf(string member) => [.. Enumerable.Range(0, _owner.Length).Where(i => _owner[i] == member && _stored[i] is null)];

    /// <summary>How long the puts took, in ticks, sorted.</summary>
    public long[] PutTicks() => [.. _stored.Where(s => s is { Found: false }).Select(s => s!.Took).Order()];

    /// <summary>The longest put that ended after a time, in ticks.</summary>
    public long LongestPutAfter(long at) => _stored.Where(s => s is not null && s.At > at).Select(s => s!.Took).DefaultIfEmpty().Max();
}
