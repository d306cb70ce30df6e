using Ida.Ordering;

namespace Ida;

/// <summary>Everything that one member holds at one moment: for comparing replicas and inspecting a slice, not for queries.</summary>
/// <param name="View">The view in which it was taken.</param>
/// <param name="Shard">The shard; −1 when the member holds none.</param>
/// <param name="Slot">The member's slot; −1 when it has none.</param>
/// <param name="IsInitialised">Whether the member has the complete state.</param>
/// <param name="Digest">A number over all keys, versions and values: equal at initialised replicas of a shard when nothing is under way.</param>
/// <param name="Entries">The entries, in an order that depends on their keys' bytes alone: it is the same at all members.</param>
public sealed record LocalSlice(ulong View, int Shard, int Slot, bool IsInitialised, ulong Digest, IReadOnlyList<LocalEntry> Entries)
{
    /// <summary>The slice of a finished cut. Runs outside of the loop; the first caller sorts and hashes the cut.</summary>
    internal static LocalSlice From(SliceCut cut) => cut.Made(static cut =>
    {
        var entries = cut.Sort(out ulong digest);
        return new LocalSlice(cut.View, cut.Shard, cut.Slot, cut.IsInitialised, digest, entries);
    });

    /// <summary>The entries of one map.</summary>
    public IEnumerable<KeyValuePair<TKey, Entry<TValue>>> Of<TKey, TValue>(DhtMap<TKey, TValue> map) where TKey : notnull
    {
        ArgumentNullException.ThrowIfNull(map);
        foreach (var entry in Entries)
        {
            if (!entry.Key.Span[..KeyIdentity.MapBytes].SequenceEqual(map.Identity)) continue;
            yield return new(GroupCore.Wire.CanonicalKey.Read<TKey>(entry.Key.Span[KeyIdentity.MapBytes..]),
                new Entry<TValue>(map.Serializer.Deserialize<TValue>(entry.Value.Span), entry.Version));
        }
    }
}
