namespace Ida.Ordering;

/// <summary>What a logical put did at this shard, and the view and attempt that did it: its first version inline, the rest where there is more than one key or an error.</summary>
internal readonly record struct Outcome(ulong Sequence, ulong View, uint Attempt, ulong FirstVersion, ulong[]? Versions, string?[]? Errors)
{
    public ulong VersionAt(int index) => Versions is { } all ? (index < all.Length ? all[index] : 0) : FirstVersion;

    public string? ErrorAt(int index) => Errors is { } all && index < all.Length ? all[index] : null;
}
