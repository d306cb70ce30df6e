namespace Oracle.Raft;

/// <summary>
/// The entries after the last cut, in memory, with the configurations among them. Index 0 is before the first entry; entries up to
/// <see cref="Base"/> exist only within the saved state.
/// </summary>
internal sealed class EntryLog
{
    // End: the content bytes of all entries up to and including this one, since the log was last reset.
    private readonly List<(LogEntry Entry, long End)> _entries = [];
    private readonly List<(ulong Index, Configuration Configuration)> _configurations = [(0, Configuration.Empty)];
    private long _baseEnd;

    /// <summary>Index of the last entry that was cut away.</summary>
    public ulong Base { get; private set; }

    public ulong BaseTerm { get; private set; }

    public ulong LastIndex => Base + (ulong)_entries.Count;

    public ulong LastTerm => TermAt(LastIndex);

    /// <summary>Bytes of content held.</summary>
    public long Bytes => BytesBehind(Base);

    public LogEntry this[ulong index] => _entries[(int)(index - Base - 1)].Entry;

    /// <summary>The latest configuration in the log, committed or not: Raft uses it from the moment it is appended.</summary>
    public Configuration Configuration => _configurations[^1].Configuration;

    public ulong ConfigurationIndex => _configurations[^1].Index;

    /// <summary>Whether the term of this index is still known.</summary>
    public bool Knows(ulong index) => index >= Base && index <= LastIndex;

    public ulong TermAt(ulong index) => index == Base ? BaseTerm : this[index].Term;

    /// <summary>Bytes of content after this index.</summary>
    public long BytesBehind(ulong index) => EndOf(LastIndex) - EndOf(index);

    /// <summary>The configuration in force at this index.</summary>
    public Configuration ConfigurationAt(ulong index)
    {
        for (int i = _configurations.Count - 1; i > 0; i--)
            if (_configurations[i].Index <= index) return _configurations[i].Configuration;
        return _configurations[0].Configuration;
    }

    public void Append(LogEntry entry)
    {
        _entries.Add((entry, EndOf(LastIndex) + entry.Content.Length));
        if (entry.Kind == EntryKind.Configuration) _configurations.Add((LastIndex, ConfigurationCodec.Read(entry.Content)));
    }

    /// <summary>Drops the entries from <paramref name="index"/> on.</summary>
    public void Truncate(ulong index)
    {
        _entries.RemoveRange((int)(index - Base - 1), (int)(LastIndex - index + 1));
        while (_configurations.Count > 1 && _configurations[^1].Index >= index) _configurations.RemoveAt(_configurations.Count - 1);
    }

    /// <summary>Forgets the entries up to <paramref name="index"/>, which the saved state holds.</summary>
    public void Cut(ulong index)
    {
        if (index <= Base) return;
        (ulong term, long end, int count) = (TermAt(index), EndOf(index), (int)(index - Base));
        _entries.RemoveRange(0, count);
        (Base, BaseTerm, _baseEnd) = (index, term, end);
        while (_configurations.Count > 1 && _configurations[1].Index <= index) _configurations.RemoveAt(0);
    }

    /// <summary>Starts anew after a saved state.</summary>
    public void Reset(ulong index, ulong term, Configuration configuration)
    {
        _entries.Clear();
        _configurations.Clear();
        _configurations.Add((index, configuration));
        (Base, BaseTerm, _baseEnd) = (index, term, 0);
    }

    private long EndOf(ulong index) => index == Base ? _baseEnd : _entries[(int)(index - Base - 1)].End;
}
