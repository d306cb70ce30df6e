namespace Ida.Scenarios;

/// <summary>Merges of one pair whose id and version a test wants to know.</summary>
internal static class SinglePairs
{
    public static ValueTask<PutResult> MergePairAsync<TKey, TValue, TIncoming>(this DhtMap<TKey, TValue> map, TKey key, TIncoming value, PutOptions? options = null, CancellationToken cancellationToken = default)
        where TKey : notnull => map.MergeAsync([KeyValuePair.Create(key, value)], options, cancellationToken);
}
