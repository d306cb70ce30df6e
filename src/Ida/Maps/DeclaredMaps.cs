using System.Text;
using GroupCore.Membership;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Ida.Maps;

/// <summary>What this member has declared, and what of that can be used in the current view.</summary>
internal sealed class DeclaredMaps
{
    private readonly DeclaredMap[] _all;
    private readonly Dictionary<string, DeclaredMap> _byName = new(StringComparer.Ordinal);
    private readonly Dictionary<ulong, DeclaredMap> _byId = [];

    // A cache for the loop: most keys of a turn are of one map.
    private DeclaredMap _last;

    /// <summary>Takes maps in the order of their names, at least one.</summary>
    public DeclaredMaps(DeclaredMap[] all, DhtOptions options)
    {
        (_all, _last) = (all, all[0]);
        foreach (var map in all)
        {
            _byName.Add(map.Name, map);
            _byId.Add(map.Id, map);
        }
        Set = MapSet.Of(Array.ConvertAll(all, static map => map.Shape));
        Serializer = options.Serializer ?? ContractSerializer.Instance;
        HashName = options.Hash.Name;
        if (string.IsNullOrEmpty(HashName) || Encoding.UTF8.GetByteCount(HashName) > DhtConfig.MaxHashName)
            throw new DhtConfigurationException($"The name of the hash function is {(HashName is null ? "null" : $"'{HashName}'")}; allowed are 1 to {DhtConfig.MaxHashName} bytes of UTF-8.");
        if (!Utf8Text.IsKept(HashName))
            throw new DhtConfigurationException($"The name of the hash function, '{Utf8Text.AsGot(HashName)}', contains an unpaired surrogate: other members would read another name.");
    }

    /// <summary>What members compare.</summary>
    public MapSet Set { get; }

    public IPayloadSerializer Serializer { get; }

    /// <summary>The name of the hash function.</summary>
    public string HashName { get; }

    /// <summary>The maps, in the order of their names.</summary>
    public IReadOnlyList<DeclaredMap> All => _all;

    /// <summary>The declared names, in order.</summary>
    public string[] Names => Array.ConvertAll(_all, static map => map.Name);

    /// <summary>Whether all that is declared here can be used. For the loop.</summary>
    public bool AllAgreed { get; private set; } = true;

    /// <summary>The map of a name; null where it is not declared.</summary>
    public DeclaredMap? Named(string name) => _byName.GetValueOrDefault(name);

    /// <summary>The map of a key, on any thread; null where it is not declared.</summary>
    public DeclaredMap? Of(ReadOnlySpan<byte> key) => _byId.GetValueOrDefault(KeyIdentity.MapOf(key));

    /// <summary>The map of a key, in a turn; null where it is not declared.</summary>
    public DeclaredMap? Find(ReadOnlySpan<byte> key)
    {
        ulong id = KeyIdentity.MapOf(key);
        if (_last.Id == id) return _last;
        if (!_byId.TryGetValue(id, out var found)) return null;
        _last = found;
        return found;
    }

    /// <summary>The value that a merge stores, null for none.</summary>
    public byte[]? Resolve(ulong resolver, ReadOnlySpan<byte> key, byte[]? stored, byte[] incoming) =>
        Find(key)?.FindResolver(resolver) is { } found ? found.Resolve(Serializer, key[KeyIdentity.MapBytes..], stored, incoming)
            : throw new InvalidOperationException("No such resolver is declared here.");

    /// <summary>A view begins: what its members agree on can be used.</summary>
    public void Take(MapAgreement agreement)
    {
        AllAgreed = true;
        foreach (var map in _all)
        {
            Take(map, agreement.LackedBy(map.Name));
            foreach (var resolver in map.Resolvers) Take(resolver, map.LackedBy ?? agreement.LackedBy(map.Name, resolver.Incoming));
        }
    }

    private void Take(Declared one, ProcessId? lackedBy)
    {
        one.LackedBy = lackedBy;
        AllAgreed &= lackedBy is null;
    }
}
