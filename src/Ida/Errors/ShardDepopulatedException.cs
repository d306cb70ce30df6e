using GroupCore.Basics;

namespace Ida;

/// <summary>A shard lost its last initialised member: this incarnation of the DHT is over; enabling it again begins an empty one.</summary>
public sealed class ShardDepopulatedException(int shard, ulong view)
    : DhtException($"Shard {shard} lost its last initialised member before view {view}: this incarnation of the DHT is over. Enable the DHT again to begin an empty one."), ISharedError
{
    /// <summary>The shard.</summary>
    public int Shard { get; } = shard;

    /// <summary>The view whose installation found it empty.</summary>
    public ulong View { get; } = view;

    Exception ISharedError.Copy() => new ShardDepopulatedException(Shard, View);
}
