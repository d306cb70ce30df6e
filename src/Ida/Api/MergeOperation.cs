namespace Ida;

/// <summary>A merge of one key, whose result is the value that is stored afterwards.</summary>
internal sealed class MergeOperation<TKey, TValue>(Dht dht, DhtMap<TKey, TValue> map, OperationPool<MergeOperation<TKey, TValue>> pool) : WriteOperation<TValue?>(dht) where TKey : notnull
{
    protected override bool MustTell => true;

    protected override TValue? ResultOf(bool applied)
    {
        if (Parts[0].Report?.Value is not { } bytes) return default;
        try
        {
            return map.ToValue(bytes, KeyOf(0));
        }
        catch (DhtException error)
        {
            // By itself, that error would say that nothing was executed.
            throw new OutcomeUnknownException(Id, "The merge was executed, and the value that it stored cannot be read here: " + error.Message, error);
        }
    }

    protected override void Return() => pool.Return(this);
}
