namespace Ida;

/// <summary>What a read found of one key.</summary>
/// <typeparam name="TValue">Type of the value.</typeparam>
public readonly record struct Entry<TValue>
{
    private readonly TValue? _value;

    internal Entry(TValue value, ulong version) => (Found, _value, Version) = (true, value, version);

    /// <summary>Whether the key has a value.</summary>
    public bool Found { get; }

    /// <summary>The value.</summary>
    /// <exception cref="InvalidOperationException">The key has none.</exception>
    public TValue Value => Found ? _value! : throw new InvalidOperationException("The key has no value: look at Found first, or take ValueOr.");

    /// <summary>
    /// The version of the value; 0 when there is none. The version of a key rises with every change and is the same at all replicas; a later put may expect it.
    /// </summary>
    public ulong Version { get; }

    /// <summary>The value, or <paramref name="other"/> when there is none.</summary>
    public TValue? ValueOr(TValue? other) => Found ? _value : other;

    /// <summary>The value with its version, or "absent".</summary>
    public override string ToString() => Found ? $"{_value} (version {Version})" : "absent";
}
