using System.Buffers;
using GroupCore.Wire;

namespace Ida.Maps;

/// <summary>A shard key by the function in the declaration of the map.</summary>
internal sealed class ShardKeyBy<TKey, TShard>(Func<TKey, TShard> of) : ShardKey<TKey> where TKey : notnull where TShard : notnull
{
    public override string Text => $"by ShardBy<{TypeText.Of(typeof(TShard))}>";

    public override void Check() => CanonicalKey.Check<TShard>();

    protected override void Write(IBufferWriter<byte> to, TKey key) => Append(to, of(key));
}
