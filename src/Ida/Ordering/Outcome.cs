namespace Ida.Ordering;

/// <summary>
/// What a logical put did at this shard, the hash of its pairs, and the view and attempt that did it. One with few keys and no error has no
/// object of its own.
/// </summary>
internal readonly record struct Outcome(ulong Sequence, ulong View, uint Attempt, bool Reissued, ulong Payload, PutVersions Versions, string?[]? Errors)
{
    public ulong VersionAt(int index) => index < Versions.Count ? Versions[index] : 0;

    public string? ErrorAt(int index) => Errors is { } all && index < all.Length ? all[index] : null;

    /// <summary>Whether it is this attempt that was executed.</summary>
    public bool IsOf(in OpKey key) => key.Id.Sequence == Sequence && key.Attempt == Attempt && key.Payload == (Reissued ? Payload : 0);
}
