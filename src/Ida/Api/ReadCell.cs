namespace Ida;

/// <summary>What a <see cref="DhtReading"/> found for one key.</summary>
public sealed class ReadCell<TValue> : IReadCell
{
    private readonly Func<ReadOnlySpan<byte>, ReadOnlySpan<byte>, TValue> _read;

    internal ReadCell(Func<ReadOnlySpan<byte>, ReadOnlySpan<byte>, TValue> read) => _read = read;

    /// <summary>Whether the key has a value.</summary>
    public bool Found { get; private set; }

    /// <summary>The value; the default of the type when there is none.</summary>
    public TValue? Value { get; private set; }

    /// <summary>The version of the value; 0 when there is none.</summary>
    public ulong Version { get; private set; }

    void IReadCell.Set(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, ulong version) => (Found, Value, Version) = (true, _read(value, key), version);
}
