namespace Ida.Maps;

/// <summary>The configuration that must be equal at all members of a DHT; what they declare is separate (<see cref="MapSet"/>).</summary>
internal sealed record DhtConfig(int ShardSize, int TargetSize, string Hash)
{
    /// <summary>Bytes of UTF-8 that the name of a hash function may have.</summary>
    public const int MaxHashName = 256;

    public int Shards => TargetSize / ShardSize;

    /// <summary>Says what differs; null if nothing does.</summary>
    public string? Difference(DhtConfig other)
    {
        if (this == other) return null;
        var differences = new List<string>();
        if (ShardSize != other.ShardSize) differences.Add($"ShardSize is {ShardSize} here and {other.ShardSize} there");
        if (TargetSize != other.TargetSize) differences.Add($"TargetSize is {TargetSize} here and {other.TargetSize} there");
        if (Hash != other.Hash) differences.Add($"the hash function is {ErrorText.OfAnother(Hash)} here and {ErrorText.OfAnother(other.Hash)} there");
        return string.Join("; ", differences);
    }
}
