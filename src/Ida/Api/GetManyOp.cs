using Ida.Coordination;

namespace Ida;

/// <summary>Read of several keys of one map.</summary>
internal sealed class GetManyOp<TKey, TValue>(DhtLayer layer, DhtMap<TKey, TValue> map, OpPool<GetManyOp<TKey, TValue>> pool)
    : ClientOp<IReadOnlyDictionary<TKey, Versioned<TValue>>>(layer) where TKey : notnull
{
    private TKey[] _keys = [];

    public void For(TKey[] keys) => _keys = keys;

    protected override IReadOnlyDictionary<TKey, Versioned<TValue>> Result()
    {
        var result = new Dictionary<TKey, Versioned<TValue>>(PartCount);
        for (int i = 0; i < PartCount; i++)
            if (TryValue(i, out var bytes)) Add(result, _keys[Parts[i].Index], new(map.ToValue(bytes, KeyOf(i)), Parts[i].Version));
        return result;
    }

    private void Add(Dictionary<TKey, Versioned<TValue>> result, TKey key, in Versioned<TValue> value)
    {
        bool added;
        try
        {
            added = result.TryAdd(key, value);
        }
        catch (Exception error)
        {
            throw new UserCodeException("The equality of the key", map.Name, UserCodeException.TextOf(key), error);
        }
        if (!added) throw new ArgumentException($"Two keys of the read are equal by what {typeof(TKey)} says, and differ in their bytes, which count: {UserCodeException.TextOf(key)}. Read them one by one, or with another key type.", nameof(key));
    }

    protected override void Return()
    {
        _keys = [];
        pool.Return(this);
    }
}
