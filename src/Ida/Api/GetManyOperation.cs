using Ida.Coordination;

namespace Ida;

/// <summary>Read of several keys of one map.</summary>
internal sealed class GetManyOperation<TKey, TValue>(DhtLayer layer, DhtMap<TKey, TValue> map, OperationPool<GetManyOperation<TKey, TValue>> pool)
    : ClientOperation<EntryDictionary<TKey, TValue>>(layer) where TKey : notnull
{
    private TKey[] _keys = [];

    public void For(TKey[] keys) => _keys = keys;

    protected override EntryDictionary<TKey, TValue> Result()
    {
        // Parts are sorted by shard, the result is in the order of the call.
        Span<int> places = PartCount <= 64 ? stackalloc int[PartCount] : new int[PartCount];
        for (int i = 0; i < PartCount; i++) places[Parts[i].Index] = i;
        var result = new OrderedDictionary<TKey, Entry<TValue>>(PartCount);
        for (int i = 0; i < PartCount; i++)
        {
            int part = places[i];
            Add(result, _keys[i], TryValue(part, out var bytes) ? new(map.ToValue(bytes, KeyOf(part)), Parts[part].Version) : default);
        }
        return new(result);
    }

    // Absent keys are added too, so that two equal keys are noticed even if one of them is absent.
    private void Add(OrderedDictionary<TKey, Entry<TValue>> result, TKey key, in Entry<TValue> value)
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
        if (!added) throw new ArgumentException($"Two keys of the read are equal by {typeof(TKey)}.Equals but differ in their bytes, by which the DHT tells keys apart: {UserCodeException.TextOf(key)}. Read them one by one, or with another key type.", nameof(key));
    }

    protected override void Return()
    {
        _keys = [];
        pool.Return(this);
    }
}
