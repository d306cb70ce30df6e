using Ida.Coordination;

namespace Ida;

/// <summary>Read of one key.</summary>
internal sealed class GetOneOperation<TKey, TValue>(DhtLayer layer, DhtMap<TKey, TValue> map, OperationPool<GetOneOperation<TKey, TValue>> pool) : ClientOperation<Entry<TValue>>(layer) where TKey : notnull
{
    protected override Entry<TValue> Result() => TryValue(0, out var bytes) ? new(map.ToValue(bytes, KeyOf(0)), Parts[0].Version) : default;

    protected override void Return() => pool.Return(this);
}
