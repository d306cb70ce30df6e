namespace Ida;

/// <summary>
/// The resolver of a merge threw, in an operation whose keys lie in several shards. The keys in that key's shard are unchanged; those in shards where no
/// resolver threw were changed. The members of one shard do not wait for the resolvers of another. Of the keys in one shard, all are changed or none.
/// </summary>
public sealed class PartlyAppliedException(OperationId operation, string map, string key, string error)
    : DhtOutcomeException($"The resolver of the map \"{map}\" threw for the key {key}: {error}. Nothing was changed in the shard of this key; keys of the operation in other shards were.")
{
    /// <summary>The id of the operation.</summary>
    public OperationId Operation { get; } = operation;

    /// <summary>The map.</summary>
    public string Map { get; } = map;

    /// <summary>The key, as text.</summary>
    public string Key { get; } = key;
}
