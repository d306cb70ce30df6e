using GroupCore.Wire;

namespace Ida;

/// <summary>
/// Options of the DHT that all its members have to have alike, and those of this member. Sizes and hash are compared when a member joins the DHT, and
/// a member that differs gets <see cref="DhtConfigurationException"/>.
/// </summary>
public sealed record DhtOptions
{
    /// <summary>Members that hold each key; at least 1.</summary>
    public required int ShardSize { get; init; }

    /// <summary>Members the DHT is meant to have; a multiple of <see cref="ShardSize"/>. The number of shards is their quotient. More members are spares.</summary>
    public required int TargetSize { get; init; }

    /// <summary>The hash that places keys in shards.</summary>
    public IStableHash Hash { get; init; } = StableHash.XxHash64;

    /// <summary>Writes values; null takes MessagePack contracts, like keys. With resolvers, equal values need equal bytes everywhere (<see cref="IPayloadSerializer"/>).</summary>
    public IPayloadSerializer? Serializer { get; init; }

    /// <summary>What is this member's own: the others need not have the same, and are told nothing of it.</summary>
    public DhtMemberOptions Member { get; init; } = new();

    /// <summary>Number of shards; throws <see cref="DhtConfigurationException"/> when an option is impossible.</summary>
    internal int Validate()
    {
        if (ShardSize < 1) throw new DhtConfigurationException($"ShardSize is {ShardSize}; it must be at least 1.");
        if (TargetSize < ShardSize || TargetSize % ShardSize != 0)
            throw new DhtConfigurationException($"TargetSize is {TargetSize}; it must be a multiple of ShardSize, which is {ShardSize}.");
        if (TargetSize > ushort.MaxValue) throw new DhtConfigurationException($"TargetSize is {TargetSize}; at most {ushort.MaxValue} are allowed.");
        if (Hash is null) throw new DhtConfigurationException("Hash is null; it must be a function, such as StableHash.XxHash64.");
        if (Member is null) throw new DhtConfigurationException("Member is null; leave it out for the defaults.");
        Member.Validate();
        return TargetSize / ShardSize;
    }
}
