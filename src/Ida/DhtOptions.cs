using GroupCore.Wire;

namespace Ida;

/// <summary>
/// Options of the DHT that must be the same at all its members, and those of this member. Sizes and hash are compared when a member joins the DHT;
/// a member whose own differ gets <see cref="DhtConfigurationException"/>.
/// </summary>
public sealed record DhtOptions
{
    /// <summary>Members that hold each key; at least 1.</summary>
    public required int ShardSize { get; init; }

    /// <summary>Members that the DHT is meant to have; a multiple of <see cref="ShardSize"/>. The number of shards is the quotient of the two. Further members are spares.</summary>
    public required int TargetSize { get; init; }

    /// <summary>The hash that places keys in shards.</summary>
    public IStableHash Hash { get; init; } = StableHash.XxHash64;

    /// <summary>Writes values; null takes MessagePack contracts, like keys. With resolvers, equal values need equal bytes everywhere (<see cref="IPayloadSerializer"/>).</summary>
    public IPayloadSerializer? Serializer { get; init; }

    /// <summary>The options of this member alone: other members may have different ones, and are told nothing about them.</summary>
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
