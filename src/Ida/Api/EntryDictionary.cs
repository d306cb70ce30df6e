using System.Collections;
using System.Diagnostics.CodeAnalysis;

namespace Ida;

/// <summary>
/// What a read of several keys found, all at one moment: the keys that have a value, in the order of the call, with their values and versions.
/// </summary>
/// <typeparam name="TKey">Type of the keys.</typeparam>
/// <typeparam name="TValue">Type of the values.</typeparam>
public sealed class EntryDictionary<TKey, TValue> : IReadOnlyDictionary<TKey, TValue> where TKey : notnull
{
    // With the absent keys.
    private readonly OrderedDictionary<TKey, Entry<TValue>> _asked;

    internal EntryDictionary(OrderedDictionary<TKey, Entry<TValue>> asked)
    {
        _asked = asked;
        foreach (var (_, entry) in asked)
            if (entry.Found) Count++;
    }

    /// <summary>Number of keys that have a value.</summary>
    public int Count { get; }

    /// <summary>The keys that have a value.</summary>
    public IEnumerable<TKey> Keys => this.Select(static pair => pair.Key);

    /// <summary>Their values.</summary>
    public IEnumerable<TValue> Values => this.Select(static pair => pair.Value);

    /// <summary>The value of a key.</summary>
    /// <exception cref="KeyNotFoundException">The key has none, or was not asked for.</exception>
    public TValue this[TKey key] => TryGetValue(key, out var value) ? value : throw new KeyNotFoundException($"The key {UserCodeException.TextOf(key)} has no value, or was not asked for.");

    /// <summary>Value and version of a key; not found if it has none or was not asked for.</summary>
    public Entry<TValue> Find(TKey key) => _asked.GetValueOrDefault(key);

    /// <summary>The version of a key; 0 if it has no value or was not asked for.</summary>
    public ulong VersionOf(TKey key) => Find(key).Version;

    /// <summary>Whether a key has a value.</summary>
    public bool ContainsKey(TKey key) => Find(key).Found;

    /// <summary>The value of a key, if it has one.</summary>
    public bool TryGetValue(TKey key, [MaybeNullWhen(false)] out TValue value)
    {
        var entry = Find(key);
        value = entry.ValueOr(default);
        return entry.Found;
    }

    /// <summary>The keys that have a value, with their values.</summary>
    public IEnumerator<KeyValuePair<TKey, TValue>> GetEnumerator()
    {
        foreach (var (key, entry) in _asked)
            if (entry.Found) yield return new(key, entry.Value);
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
