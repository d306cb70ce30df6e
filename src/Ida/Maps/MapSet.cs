using System.Text;
using System.Text.Unicode;
using Ida.Wire;

namespace Ida.Maps;

/// <summary>
/// The maps that a member declares, as data: count var, then for each map, in the order of names, its name, the types of keys and values, how keys are placed, count var and
/// the types of its resolvers, in order. Equal sets have equal bytes.
/// </summary>
internal sealed class MapSet
{
    private readonly byte[] _bytes;
    private readonly Dictionary<string, MapShape> _byName = new(StringComparer.Ordinal);

    private MapSet(byte[] bytes, IReadOnlyList<MapShape> all)
    {
        (_bytes, All) = (bytes, all);
        foreach (var map in all) _byName.Add(map.Name, map);
    }

    /// <summary>The maps, in the order of their names.</summary>
    public IReadOnlyList<MapShape> All { get; }

    public ReadOnlySpan<byte> Bytes => _bytes;

    /// <summary>Takes maps in the order of their names.</summary>
    /// <exception cref="DhtConfigurationException">They take too many bytes.</exception>
    public static MapSet Of(IReadOnlyList<MapShape> all)
    {
        int size = 5;
        foreach (var map in all)
        {
            size += 5 + SizeOf(map.Name) + SizeOf(map.Key) + SizeOf(map.Value) + SizeOf(map.Placement);
            foreach (string resolver in map.Resolvers) size += SizeOf(resolver);
        }
        var to = new BodyWriter(new byte[size]);
        to.Var((ulong)all.Count);
        foreach (var map in all)
        {
            Write(ref to, map.Name);
            Write(ref to, map.Key);
            Write(ref to, map.Value);
            Write(ref to, map.Placement);
            to.Var((ulong)map.Resolvers.Count);
            foreach (string resolver in map.Resolvers) Write(ref to, resolver);
        }
        if (to.Length > DhtLimits.DeclarationBytes)
            throw new DhtConfigurationException($"The names and types of the declared maps and resolvers have {to.Length} bytes; at most {DhtLimits.DeclarationBytes} are allowed. Declare fewer maps, and put what varies into keys.");
        return new(to.Written.ToArray(), all);
    }

    /// <summary>Null if the bytes are no such set, or one that no member can have declared.</summary>
    public static MapSet? Read(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length > DhtLimits.DeclarationBytes) return null;
        var from = new BodyReader(bytes);
        var all = new MapShape[from.Count(DhtLimits.Maps, 5)];
        var ids = new HashSet<ulong>();
        for (int i = 0; i < all.Length; i++)
        {
            string name = Text(ref from, DhtLimits.MapName), key = Text(ref from), value = Text(ref from), placement = Text(ref from);
            var resolvers = new string[from.Count(DhtLimits.Resolvers, 1)];
            for (int j = 0; j < resolvers.Length; j++)
            {
                resolvers[j] = Text(ref from);
                if (j > 0 && string.CompareOrdinal(resolvers[j - 1], resolvers[j]) >= 0) from.Fail();
            }
            if (from.Failed || name.Length == 0 || (i > 0 && string.CompareOrdinal(all[i - 1].Name, name) >= 0)) return null;
            all[i] = new(name, key, value, placement, resolvers);
            if (!ids.Add(all[i].Id)) return null;
        }
        return from.Complete ? new(bytes.ToArray(), all) : null;
    }

    /// <summary>The map of a name; null if it is not declared.</summary>
    public MapShape? Find(string name) => _byName.GetValueOrDefault(name);

    public bool IsSame(MapSet other) => ReferenceEquals(this, other) || Bytes.SequenceEqual(other.Bytes);

    private static int SizeOf(string text) => 5 + Encoding.UTF8.GetByteCount(text);

    private static void Write(ref BodyWriter to, string text) => to.Blob(Encoding.UTF8.GetBytes(text));

    // Invalid UTF-8 is refused: different bytes would be read as the same text.
    private static string Text(ref BodyReader from, int most = DhtLimits.DeclarationBytes)
    {
        var bytes = from.Blob(most);
        if (!Utf8.IsValid(bytes)) from.Fail();
        return from.Failed ? "" : Encoding.UTF8.GetString(bytes);
    }
}
