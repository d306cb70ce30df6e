using System.Runtime.InteropServices;

namespace Ida.Ordering;

/// <summary>How many entries of each map are in a slice, and the bytes of their keys and values. Replacing a value by one of the same length costs a look at the length of the old one.</summary>
internal sealed class MapSizes
{
    private readonly Dictionary<ulong, (long Entries, long Bytes)> _of = [];

    /// <summary>By the id of the map; maps without an entry are left out.</summary>
    public IReadOnlyDictionary<ulong, (long Entries, long Bytes)> All => _of;

    public (long Entries, long Bytes) Of(ulong map) => _of.GetValueOrDefault(map);

    /// <summary>The value of a key, with its map in front, changes; null stands for an absent key.</summary>
    public void Change(byte[] key, byte[]? before, byte[]? after)
    {
        if (before?.Length == after?.Length) return;
        ulong map = KeyIdentity.MapOf(key);
        ref var of = ref CollectionsMarshal.GetValueRefOrAddDefault(_of, map, out _);
        of.Entries += One(after) - One(before);
        of.Bytes += BytesOf(key, after) - BytesOf(key, before);
        if (of.Entries == 0) _of.Remove(map);
    }

    private static int One(byte[]? value) => value is null ? 0 : 1;

    private static long BytesOf(byte[] key, byte[]? value) => value is null ? 0 : key.Length - KeyIdentity.MapBytes + value.Length;
}
