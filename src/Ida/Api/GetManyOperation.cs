using Ida.Coordination;

namespace Ida;

/// <summary>Read of several keys of one map.</summary>
internal sealed class GetManyOperation<TKey, TValue>(DhtLayer layer, DhtMap<TKey, TValue> map, OperationPool<GetManyOperation<TKey, TValue>> pool)
    : ClientOperation<IReadOnlyDictionary<TKey, Versioned<TValue>>>(layer) where TKey : notnull
{
    private TKey[] _keys = [];

    public void For(TKey[] keys) => _keys = keys;

    protected override IReadOnlyDictionary<TKey, Versioned<TValue>> Result()
    {
        var result = new Dictionary<TKey, Versioned<TValue>>(PartCount);
        int absent = 0;
        // Absent keys are added too, and removed below: so a key that equals another one is noticed even where one of the two is absent.
        for (int i = 0; i < PartCount; i++)
        {
            bool present = TryValue(i, out var bytes);
            if (!present) absent++;
            Add(result, _keys[Parts[i].Index], present ? new(map.ToValue(bytes, KeyOf(i)), Parts[i].Version) : default);
        }
        for (int i = 0; i < PartCount && absent > 0; i++)
        {
            if (TryValue(i, out _)) continue;
            Change(result, _keys[Parts[i].Index], default, add: false);
            absent--;
        }
        return result;
    }

    private void Add(Dictionary<TKey, Versioned<TValue>> result, TKey key, in Versioned<TValue> value)
    {
        if (!Change(result, key, value, add: true)) throw new ArgumentException($"Two keys of the read are equal by what {typeof(TKey)} says, and differ in their bytes, which count: {UserCodeException.TextOf(key)}. Read them one by one, or with another key type.", nameof(key));
    }

    private bool Change(Dictionary<TKey, Versioned<TValue>> result, TKey key, in Versioned<TValue> value, bool add)
    {
        try
        {
            return add ? result.TryAdd(key, value) : result.Remove(key);
        }
        catch (Exception error)
        {
            throw new UserCodeException("The equality of the key", map.Name, UserCodeException.TextOf(key), error);
        }
    }

    protected override void Return()
    {
        _keys = [];
        pool.Return(this);
    }
}
