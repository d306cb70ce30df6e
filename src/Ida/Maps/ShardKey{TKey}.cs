using System.Buffers;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;
using Ida.Ordering;

namespace Ida.Maps;

/// <summary>What places the keys of a map instead of their own bytes. It runs user code, at callers and in turns.</summary>
internal abstract class ShardKey<TKey> where TKey : notnull
{
    [ThreadStatic]
    private static ArrayBufferWriter<byte>? _bytes;

    /// <summary>Where it comes from and its type: what members compare.</summary>
    public abstract string Text { get; }

    /// <summary>Throws where its type cannot be a key.</summary>
    public abstract void Check();

    /// <summary>Where a key lies.</summary>
    public ulong Hash(IStableHash hash, TKey key)
    {
        // Taken out while in use: user code that runs here may put into the DHT of another node.
        var bytes = _bytes ?? new(64);
        _bytes = null;
        bytes.ResetWrittenCount();
        NeutralContext.Run(static call => call.Of.Run(call.To, call.Key), (Of: this, To: bytes, Key: key));
        ulong place = hash.Hash(bytes.WrittenSpan);
        if (bytes.Capacity <= 1 << 16) _bytes = bytes;
        return place;
    }

    /// <summary>Where a key lies, from its bytes.</summary>
    public ulong Hash(IStableHash hash, ReadOnlySpan<byte> key) => Hash(hash, NeutralContext.Run(static bytes => CanonicalKey.Read<TKey>(bytes), key));

    /// <summary>Writes the bytes of a key's shard key.</summary>
    protected abstract void Write(IBufferWriter<byte> to, TKey key);

    /// <summary>Writes a shard key.</summary>
    protected static void Append<TShard>(IBufferWriter<byte> to, TShard shardKey)
    {
        if (shardKey is null) throw new InvalidOperationException("The shard key is null.");
        try
        {
            CanonicalKey.Write(to, shardKey);
        }
        catch (ContractException error)
        {
            throw new UnsupportedTypeException(typeof(TShard), "this cannot be a shard key: " + error.Message, error);
        }
    }

    private bool Run(IBufferWriter<byte> to, TKey key)
    {
        Write(to, key);
        return true;
    }
}
