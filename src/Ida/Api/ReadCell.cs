namespace Ida;

/// <summary>What a <see cref="DhtReading"/> found for one key.</summary>
public sealed class ReadCell<TValue> : IReadCell
{
    private readonly Func<ReadOnlySpan<byte>, ReadOnlySpan<byte>, TValue> _read;

    internal ReadCell(Func<ReadOnlySpan<byte>, ReadOnlySpan<byte>, TValue> read) => _read = read;

    /// <summary>Value and version; not found before the reading has run.</summary>
    public Entry<TValue> Entry { get; private set; }

    /// <summary>The value.</summary>
    /// <exception cref="InvalidOperationException">The key has none.</exception>
    public TValue Value => Entry.Value;

    void IReadCell.Set(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, ulong version) => Entry = new(_read(value, key), version);
}
