using System.Diagnostics.CodeAnalysis;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Ida.Maps;

/// <summary>A map with its types.</summary>
internal sealed class DeclaredMap<TKey, TValue>(string name) : DeclaredMap(name) where TKey : notnull
{
    private ShardKey<TKey>? _shardKey;
    private object? _opened;

    public override Type KeyType => typeof(TKey);

    public override Type ValueType => typeof(TValue);

    public override bool IsPlain => _shardKey is null;

    protected override string Placement => _shardKey?.Text ?? "";

    public void PlaceBy(ShardKey<TKey> shardKey)
    {
        CheckOpen("a shard key");
        if (_shardKey is not null) throw new DhtConfigurationException($"The map \"{Name}\" has two shard keys, {_shardKey.Text} and {shardKey.Text}. ShardBy may be called once.");
        Place(shardKey);
    }

    /// <summary>The map that callers use. Its DHT makes it once; a declaration belongs to one DHT.</summary>
    public TMap Open<TOwner, TMap>(TOwner owner, Func<TOwner, DeclaredMap<TKey, TValue>, TMap> make) where TMap : class
    {
        object made = _opened ?? make(owner, this);
        return (TMap)(Interlocked.CompareExchange(ref _opened, made, null) ?? made);
    }

    public override ulong HashOf(IStableHash hash, ReadOnlySpan<byte> key) => _shardKey!.Hash(hash, key);

    /// <summary>The resolver that merges values of a type; null where there is none.</summary>
    public DeclaredResolver? FindResolver<TIncoming>() => FindResolver(ResolverId<TIncoming>.Value);

    public override string TextOf(ReadOnlySpan<byte> key)
    {
        try
        {
            return UserCodeException.TextOf(CanonicalKey.Read<TKey>(key));
        }
        catch (Exception)
        {
            // It cannot be read as a key: show its bytes.
            return Convert.ToHexString(key[..Math.Min(key.Length, 50)]);
        }
    }

    protected override void Finish()
    {
        if (_shardKey is null && Own() is { } own) Place(own);
    }

    private void Place(ShardKey<TKey> shardKey)
    {
        try
        {
            shardKey.Check();
        }
        catch (ContractException error)
        {
            throw new DhtConfigurationException($"The map \"{Name}\" cannot be placed {shardKey.Text}: {error.Message}");
        }
        _shardKey = shardKey;
    }

    /// <summary>The shard key that the key type itself has.</summary>
    [UnconditionalSuppressMessage("Trimming", "IL2090", Justification = "The interface of a key type is used by name here, and so kept.")]
    [UnconditionalSuppressMessage("AOT", "IL3050", Justification = "Without dynamic code a shard key of a value type that is not instantiated otherwise throws here, before the DHT is enabled; ShardBy needs none.")]
    private ShardKey<TKey>? Own()
    {
        var own = Array.FindAll(typeof(TKey).GetInterfaces(), static one => one.IsGenericType && one.GetGenericTypeDefinition() == typeof(IShardKey<>));
        if (own.Length == 0) return null;
        if (own.Length > 1) throw new DhtConfigurationException($"The keys of the map \"{Name}\", {TypeText.Of(typeof(TKey))}, have {own.Length} shard keys. Say by ShardBy which of them counts.");
        return (ShardKey<TKey>)Activator.CreateInstance(typeof(OwnShardKey<,>).MakeGenericType(typeof(TKey), own[0].GetGenericArguments()[0]))!;
    }
}
