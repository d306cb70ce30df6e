using System.Diagnostics.CodeAnalysis;
using System.Text;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Ida.Maps;
using Ida.Wire;

namespace Ida;

/// <summary>
/// The maps that a member declares before it enables the DHT, each with name, types, resolvers and shard key. Only declared maps can be used.
/// Source: dht-view-change.md#only-agreed-maps-are-used, dht-order.md#keys-and-placement.
/// </summary>
/// <remarks>
/// A map is identified by its name: 8 bytes, a hash of the name, stand before each key. Types are checked by <see cref="Dht.Map{TKey, TValue}(string)"/> at this member, and between
/// members at a view change. They are no part of a key, so another program, or another version of this one, can open the map. A map has its own resolvers; the type of the value that is
/// merged selects one.
/// Members may declare different maps, and different resolvers of a map, but none that contradict each other: a name stands for the same types and placement everywhere.
/// Each view change agrees, as a part of its decision, on what all members with a slot declare; only that can be used in the view. So every replica decides alike whether it
/// takes an operation. A member that lacks what is already agreed is not admitted, so what is agreed stays agreed.
/// </remarks>
public sealed class DhtMaps
{
    private readonly SortedDictionary<string, DeclaredMap> _byName = new(StringComparer.Ordinal);
    private readonly Dictionary<ulong, DeclaredMap> _byId = [];
    private bool _sealed;

    internal DhtMaps()
    {
    }

    /// <summary>Declares a map. The returned declaration takes resolvers and the shard key.</summary>
    /// <param name="name">1 to 256 bytes of UTF-8. The name alone is the identity of the map.</param>
    /// <typeparam name="TKey">Type of the keys; if it implements <see cref="IShardKey{T}"/>, they lie where their shard key says.</typeparam>
    /// <typeparam name="TValue">Type of the values.</typeparam>
    /// <exception cref="DhtConfigurationException">
    /// The name is empty, too long or contains an unpaired surrogate; a map of this name, or of a name with the same hash, is declared already; there are 1,024 maps; or the DHT is enabled already.
    /// </exception>
    public MapDeclaration<TKey, TValue> Map<[DynamicallyAccessedMembers(TrimmedContracts.Kept)] TKey, [DynamicallyAccessedMembers(TrimmedContracts.Kept)] TValue>(string name)
        where TKey : notnull
    {
        ArgumentNullException.ThrowIfNull(name);
        string shown = Utf8Text.AsGot(name);
        if (_sealed) throw new DhtConfigurationException($"The map \"{shown}\" is declared after the DHT was enabled. Maps are declared in the callback of EnableDhtAsync, before it returns.");
        int bytes = Encoding.UTF8.GetByteCount(name);
        if (bytes is 0 or > DhtLimits.MapName)
            throw new DhtConfigurationException($"The name of a map has {bytes} bytes{(bytes == 0 ? "" : $": \"{ErrorText.Cut(shown, 20)}...\"")}; allowed are 1 to {DhtLimits.MapName} bytes of UTF-8.");
        if (!Utf8Text.IsKept(name)) throw new DhtConfigurationException($"The name of a map, \"{shown}\", contains an unpaired surrogate: other such names would mean the same map.");
        var map = new DeclaredMap<TKey, TValue>(name);
        if (_byName.TryGetValue(name, out var same)) throw new DhtConfigurationException($"The map \"{name}\" is declared twice, with {same.Types} and with {map.Types}. A name is declared once.");
        if (_byId.TryGetValue(map.Id, out var other)) throw new DhtConfigurationException($"The names of the maps \"{other.Name}\" and \"{name}\" have the same hash, by which their keys are told apart. Give one of the two another name.");
        if (_byName.Count == DhtLimits.Maps) throw new DhtConfigurationException($"The map \"{name}\" is one too many: at most {DhtLimits.Maps} are declared. Put what varies into keys.");
        _byName.Add(name, map);
        _byId.Add(map.Id, map);
        return new(map);
    }

    /// <summary>Ends the declaration, and reads the user's other settings once, on the caller's thread.</summary>
    internal DeclaredMaps Seal(DhtOptions options)
    {
        _sealed = true;
        if (_byName.Count == 0) throw new DhtConfigurationException("No map is declared. A member takes part in every map of its DHT: declare the maps in the callback of EnableDhtAsync, at every member.");
        foreach (var map in _byName.Values) map.Seal();
        return new([.. _byName.Values], options);
    }
}
