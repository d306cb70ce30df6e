using GroupCore.Basics;

namespace Ida;

/// <summary>A shard lost its last initialised member: this incarnation of the DHT is over; enabling it again begins an empty one.</summary>
public sealed class ShardDepopulatedException : DhtLostException, ISharedError
{
    /// <summary>A shard was found without an initialised member when a view was installed.</summary>
    public ShardDepopulatedException(int shard, ulong view)
        : base($"Shard {shard} lost its last initialised member before view {view}: this incarnation of the DHT is over. Enable the DHT again to begin an empty one.") => (base.Shard, base.View) = (shard, view);

    /// <summary>The shard.</summary>
    public new int Shard => base.Shard!.Value;

    /// <summary>The view at whose installation the shard had no initialised member.</summary>
    public new ulong View => base.View!.Value;

    Exception ISharedError.Copy() => Carried(new ShardDepopulatedException(Shard, View));
}
