using System.Text;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Ida.Ordering;
using Ida.ViewChange;

namespace Ida;

/// <summary>Registrations made before the DHT is enabled; they must be the same at all members.</summary>
public sealed class DhtRegistry
{
    private readonly Dictionary<ulong, IResolver> _resolvers = [];
    private readonly SortedSet<string> _names = new(StringComparer.Ordinal);
    private bool _sealed;

    internal DhtRegistry()
    {
    }

    /// <summary>
    /// Registers the function that merges a <typeparamref name="TIncoming"/> into the <typeparamref name="TStored"/> that a key holds, or into the default of that
    /// type where the key has no value; it is chosen by the types of key, stored and incoming value. A null result removes the entry. Resolvers run at every replica, inside a turn of the
    /// protocol, which may be on any caller's thread, and under the invariant culture: they must be short, take no lock, and depend on nothing but their
    /// arguments. A resolver that throws fails the merge with <see cref="ResolverException"/>, and changes nothing, at all replicas alike.
    /// </summary>
    public void OnMerge<TKey, TStored, TIncoming>(Func<TKey, TStored?, TIncoming, TStored?> resolver) where TKey : notnull
    {
        ArgumentNullException.ThrowIfNull(resolver);
        if (_sealed) throw new InvalidOperationException("Resolvers are registered before the DHT is enabled.");
        string name = Name(typeof(TKey), typeof(TStored), typeof(TIncoming));
        if (!_names.Add(name)) throw new DhtConfigurationException($"There are two resolvers for {name}.");
        _resolvers.Add(Id(name), new Resolver<TKey, TStored, TIncoming>(resolver));
    }

    /// <summary>Ends registration, and reads the user's other settings once, on the caller's thread.</summary>
    internal void Seal(DhtOptions options)
    {
        _sealed = true;
        Serializer = options.Serializer ?? ContractSerializer.Instance;
        HashName = options.Hash.Name;
        if (string.IsNullOrEmpty(HashName) || Encoding.UTF8.GetByteCount(HashName) > DhtConfig.MaxHashName)
            throw new DhtConfigurationException($"The name of the hash function is {(HashName is null ? "null" : $"'{HashName}'")}; allowed are 1 to {DhtConfig.MaxHashName} bytes of UTF-8.");
        if (!Utf8Text.IsKept(HashName))
            throw new DhtConfigurationException($"The name of the hash function, '{Utf8Text.AsGot(HashName)}', contains an unpaired surrogate: other members would read another name.");
    }

    internal IPayloadSerializer Serializer { get; private set; } = null!;

    /// <summary>The name of the hash function.</summary>
    internal string HashName { get; private set; } = null!;

    internal DhtConfig Config(DhtOptions options)
    {
        string all = string.Join("; ", _names);
        return new(options.ShardSize, options.TargetSize, HashName, StableHash.Of(Encoding.UTF8.GetBytes(all)), all.Length > DhtConfig.MaxText ? all[..DhtConfig.MaxText] : all);
    }

    /// <summary>The identity of a registered resolver, 0 when there is none.</summary>
    internal ulong Find<TKey, TStored, TIncoming>()
    {
        ulong id = ResolverId<TKey, TStored, TIncoming>.Value;
        return _resolvers.ContainsKey(id) ? id : 0;
    }

    /// <summary>The types that can be merged into values of a map, as text.</summary>
    internal string IncomingOf<TKey, TStored>()
    {
        string begins = $"({TypeText.Of(typeof(TKey))}, {TypeText.Of(typeof(TStored))}, ";
        return string.Join(", ", _names.Where(name => name.StartsWith(begins, StringComparison.Ordinal)).Select(name => name[begins.Length..^1]));
    }

    internal byte[]? Resolve(ulong id, ReadOnlySpan<byte> key, byte[]? stored, byte[] incoming) =>
        _resolvers.TryGetValue(id, out var resolver) ? resolver.Resolve(Serializer, key, stored, incoming)
            : throw new InvalidOperationException("No such resolver is registered here.");

    private static string Name(Type key, Type stored, Type incoming) => $"({TypeText.Of(key)}, {TypeText.Of(stored)}, {TypeText.Of(incoming)})";

    private static ulong Id(string name) => Math.Max(1, StableHash.Of(Encoding.UTF8.GetBytes(name)));

    /// <summary>Made once for each triple: it takes a hash of three type names.</summary>
    private static class ResolverId<TKey, TStored, TIncoming>
    {
        public static readonly ulong Value = Id(Name(typeof(TKey), typeof(TStored), typeof(TIncoming)));
    }

    private interface IResolver
    {
        byte[]? Resolve(IPayloadSerializer serializer, ReadOnlySpan<byte> key, byte[]? stored, byte[] incoming);
    }

    private sealed class Resolver<TKey, TStored, TIncoming>(Func<TKey, TStored?, TIncoming, TStored?> resolve) : IResolver
    {
        public byte[]? Resolve(IPayloadSerializer serializer, ReadOnlySpan<byte> key, byte[]? stored, byte[] incoming)
        {
            return NeutralContext.Run(static call => call.Resolve(), new Call(resolve, serializer, key[KeyIdentity.MapBytes..], stored, incoming));
        }

        // Reading the key runs code of its type, too.
        private readonly ref struct Call(Func<TKey, TStored?, TIncoming, TStored?> resolve, IPayloadSerializer serializer, ReadOnlySpan<byte> key, byte[]? stored, byte[] incoming)
        {
            private readonly ReadOnlySpan<byte> _key = key;

            public byte[]? Resolve()
            {
                var result = resolve(CanonicalKey.Read<TKey>(_key), stored is null ? default : serializer.Deserialize<TStored>(stored), serializer.Deserialize<TIncoming>(incoming));
                return result is null ? null : KeyIdentity.ToBytes(serializer, result);
            }
        }
    }
}
