using System.Buffers;
using GroupCore.Wire;
using GroupCore.Wire.MessagePack;

namespace Ida.Maps;

/// <summary>Places the keys of a map by something other than their own bytes. It runs user code, at callers and in turns.</summary>
internal abstract class ShardKey<TKey> where TKey : notnull
{
    [ThreadStatic]
    private static ArrayBufferWriter<byte>? _bytes;

    /// <summary>Where it comes from and its type: what members compare.</summary>
    public abstract string Text { get; }

    /// <summary>Throws if its type cannot be a key.</summary>
    public abstract void Check();

    /// <summary>Where a key lies, from its bytes. Reading the key also runs code of its type.</summary>
    public ulong Hash(IStableHash hash, ReadOnlySpan<byte> key)
    {
        // Taken out while in use: user code that runs here may put into the DHT of another node.
        var bytes = _bytes ?? new(64);
        _bytes = null;
        bytes.ResetWrittenCount();
        NeutralContext.Run(static call => call.Write(), new Call(this, bytes, key));
        ulong place = hash.Hash(bytes.WrittenSpan);
        if (bytes.Capacity <= 1 << 16) _bytes = bytes;
        return place;
    }

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

    private readonly ref struct Call(ShardKey<TKey> of, IBufferWriter<byte> to, ReadOnlySpan<byte> key)
    {
        private readonly ReadOnlySpan<byte> _key = key;

        public bool Write()
        {
            of.Write(to, CanonicalKey.Read<TKey>(_key));
            return true;
        }
    }
}
