namespace GroupCore.Groups.Flush;

/// <summary>What members' layers contribute to one proposal, as far as it is here: by rank, one part for each layer that is attached at that member.</summary>
internal sealed class ContributionParts(int members)
{
    // Null for a member of which no part is here.
    private readonly ReadOnlyMemory<byte>?[]?[] _parts = new ReadOnlyMemory<byte>?[]?[members];

    public ReadOnlyMemory<byte>? this[int rank, int part]
    {
        get => _parts[rank] is { } own ? own[part] : null;
        set => (_parts[rank] ??= new ReadOnlyMemory<byte>?[GroupLimits.Layers])[part] = value;
    }

    /// <summary>Whether that many parts of a member are here, from the first one on.</summary>
    public bool Has(int rank, int count)
    {
        for (int part = 0; part < count; part++)
            if (this[rank, part] is null) return false;
        return true;
    }
}
