using System.Buffers;
using GroupCore.Wire;

namespace Ida.Maps;

/// <summary>The shard key that a type of keys itself has.</summary>
internal sealed class OwnShardKey<TKey, TShard> : ShardKey<TKey> where TKey : notnull, IShardKey<TShard> where TShard : notnull
{
    public override string Text => $"by IShardKey<{TypeText.Of(typeof(TShard))}>";

    public override void Check() => CanonicalKey.Check<TShard>();

    protected override void Write(IBufferWriter<byte> to, TKey key) => Append(to, key.ShardKey);
}
