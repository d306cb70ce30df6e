using System.Buffers.Binary;
using Ida.Wire;

namespace Ida.Maps;

/// <summary>A map as this member declares it.</summary>
internal abstract class DeclaredMap : Declared
{
    private readonly SortedDictionary<string, DeclaredResolver> _byType = new(StringComparer.Ordinal);
    private readonly Dictionary<ulong, DeclaredResolver> _byId = [];
    private bool _sealed;

    protected DeclaredMap(string name)
    {
        Name = name;
        Id = KeyIdentity.IdOf(name);
        Identity = new byte[KeyIdentity.MapBytes];
        BinaryPrimitives.WriteUInt64LittleEndian(Identity, Id);
    }

    public string Name { get; }

    /// <summary>The hash of the name.</summary>
    public ulong Id { get; }

    /// <summary>The bytes that stand before each key of the map.</summary>
    public byte[] Identity { get; }

    public abstract Type KeyType { get; }

    public abstract Type ValueType { get; }

    /// <summary>Both types, for messages.</summary>
    public string Types => $"keys of {TypeText.Of(KeyType)} and values of {TypeText.Of(ValueType)}";

    /// <summary>Whether keys are placed by all of their bytes.</summary>
    public abstract bool IsPlain { get; }

    /// <summary>What members compare.</summary>
    public MapShape Shape { get; private set; } = null!;

    public IEnumerable<DeclaredResolver> Resolvers => _byType.Values;

    /// <summary>How keys are placed, as text; empty if they are placed by all of their bytes.</summary>
    protected abstract string Placement { get; }

    /// <summary>The hash of a key that is placed by its shard key, from the bytes of the key; throws what the user's code throws, and if the bytes are no key.</summary>
    public abstract ulong HashOf(IStableHash hash, ReadOnlySpan<byte> key);

    /// <summary>The key as text, from its bytes.</summary>
    public abstract string TextOf(ReadOnlySpan<byte> key);

    public DeclaredResolver? FindResolver(ulong id) => _byId.GetValueOrDefault(id);

    public void Add(DeclaredResolver resolver)
    {
        if (_sealed) throw Late($"a resolver for {resolver.Incoming}");
        if (_byType.ContainsKey(resolver.Incoming)) throw new DhtConfigurationException($"The map \"{Name}\" has two resolvers for {resolver.Incoming}. It may have one for each type of value that is merged.");
        if (_byType.Count == DhtLimits.Resolvers) throw new DhtConfigurationException($"The resolver for {resolver.Incoming} of the map \"{Name}\" is one too many: a map has at most {DhtLimits.Resolvers}.");
        if (!_byId.TryAdd(resolver.Id, resolver)) throw new DhtConfigurationException($"The map \"{Name}\" has resolvers for {_byId[resolver.Id].Incoming} and {resolver.Incoming}, whose names have the same hash. Rename one of the two types.");
        _byType.Add(resolver.Incoming, resolver);
    }

    /// <summary>Ends the declaration.</summary>
    public void Seal()
    {
        _sealed = true;
        Finish();
        Shape = new(Name, TypeText.Of(KeyType), TypeText.Of(ValueType), Placement, [.. _byType.Keys]);
    }

    public override string Text => $"the map \"{Name}\"";

    public override MapNotAgreedException NotAgreed(bool isRetry) => new(Name, null, LackedBy!.Value, isRetry);

    /// <summary>Finds out how keys are placed.</summary>
    protected abstract void Finish();

    protected void CheckOpen(string what)
    {
        if (_sealed) throw Late(what);
    }

    private DhtConfigurationException Late(string what) => new($"The map \"{Name}\" is given {what} after the DHT was enabled. Maps are declared in the callback of EnableDhtAsync, before it returns.");
}
