namespace Ida.ViewChange;

/// <summary>The configuration that must be equal at all members of a DHT.</summary>
internal sealed record DhtConfig(int ShardSize, int TargetSize, string Hash, ulong Registry, string Resolvers)
{
    /// <summary>Resolvers are compared in full by their hash; their text is cut, it serves the error message only.</summary>
    public const int MaxText = 2000;

    /// <summary>Bytes of UTF-8 that the name of a hash function may have.</summary>
    public const int MaxHashName = 256;

    public int Shards => TargetSize / ShardSize;

    public bool Agrees(DhtConfig other) => ShardSize == other.ShardSize && TargetSize == other.TargetSize && Hash == other.Hash && Registry == other.Registry;

    /// <summary>Says what differs.</summary>
    public string Difference(DhtConfig other)
    {
        var differences = new List<string>();
        if (ShardSize != other.ShardSize) differences.Add($"ShardSize is {ShardSize} here and {other.ShardSize} there");
        if (TargetSize != other.TargetSize) differences.Add($"TargetSize is {TargetSize} here and {other.TargetSize} there");
        if (Hash != other.Hash) differences.Add($"the hash function is {Hash} here and {other.Hash} there");
        if (Registry != other.Registry) differences.Add($"the resolvers are [{Resolvers}] here and [{other.Resolvers}] there");
        return string.Join("; ", differences);
    }
}
