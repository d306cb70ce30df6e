using Ida.Coordination;

namespace Ida;

/// <summary>Read of one key.</summary>
internal sealed class GetOneOp<TKey, TValue>(DhtLayer layer, DhtMap<TKey, TValue> map, OpPool<GetOneOp<TKey, TValue>> pool) : ClientOp<Versioned<TValue>?>(layer) where TKey : notnull
{
    protected override Versioned<TValue>? Result() => Parts[0].Value is { } bytes ? new(map.ToValue(bytes), Parts[0].Version) : null;

    protected override void Return() => pool.Return(this);
}
