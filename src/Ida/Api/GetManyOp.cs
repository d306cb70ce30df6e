using Ida.Coordination;

namespace Ida;

/// <summary>Read of several keys of one map.</summary>
internal sealed class GetManyOp<TKey, TValue>(DhtLayer layer, DhtMap<TKey, TValue> map, TKey[] keys)
    : ClientOp<IReadOnlyDictionary<TKey, Versioned<TValue>>>(layer) where TKey : notnull
{
    protected override IReadOnlyDictionary<TKey, Versioned<TValue>> Result()
    {
        var result = new Dictionary<TKey, Versioned<TValue>>(PartCount);
        for (int i = 0; i < PartCount; i++)
            if (Parts[i].Value is { } bytes) result[keys[Parts[i].Index]] = new(map.ToValue(bytes), Parts[i].Version);
        return result;
    }

    protected override void Return()
    {
        // Holds the caller's keys: not used again.
    }
}
