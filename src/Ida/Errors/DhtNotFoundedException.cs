using GroupCore.Basics;

namespace Ida;

/// <summary>Too few members enabled the DHT within <see cref="DhtMemberOptions.EnableTimeout"/>: it begins when there is one for each shard.</summary>
public sealed class DhtNotFoundedException(int enabled, int shards, TimeSpan after)
    : DhtRetryLaterException($"The DHT has {shards} shards and begins with as many members; {enabled} had enabled it after {after}, {shards - enabled} are missing."), ISharedError
{
    /// <summary>Members that had enabled it, this one included.</summary>
    public int Enabled { get; } = enabled;

    /// <summary>Members that are missing.</summary>
    public int Missing { get; } = shards - enabled;

    Exception ISharedError.Copy() => Carried(new DhtNotFoundedException(Enabled, shards, after));
}
