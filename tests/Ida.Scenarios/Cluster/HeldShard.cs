namespace Ida.Scenarios;

/// <summary>What a member holds of a DHT at a moment, or how its part has ended.</summary>
/// <param name="Ended">Why its part is over; null while it goes on.</param>
/// <param name="Shard">Its shard; −1 for none.</param>
/// <param name="IsInitialised">Whether it has all of that shard's state.</param>
/// <param name="IsLeaving">Whether it is giving the shard up; only the others know whether somebody can take it over.</param>
internal readonly record struct HeldShard(Exception? Ended, int Shard, bool IsInitialised, bool IsLeaving)
{
    public static HeldShard Of(DhtLayer layer) => new(layer.Ended, layer.State.Shard, layer.State.Initialised, layer.IsLeaving);
}
