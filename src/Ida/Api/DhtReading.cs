namespace Ida;

/// <summary>
/// Reads keys of several maps at one point of the order: <c>var reading = dht.NewReading(); var a = reading.Add(map, key); await
/// reading.RunAsync(); use a.Value</c>. For one thread; run once.
/// </summary>
public sealed class DhtReading
{
    private readonly Dht _dht;
    private readonly ReadOp _op;
    private readonly List<IReadCell> _cells = [];
    private bool _ran;

    internal DhtReading(Dht dht, GetOptions? options)
    {
        _dht = dht;
        _op = new(dht.Layer);
        _op.Begin(false, options?.Level ?? dht.Options.Level, options?.Timeout ?? dht.Options.Timeout);
        _op.For(this);
    }

    /// <summary>Adds a key; the cell holds what was found after <see cref="RunAsync"/>.</summary>
    public ReadCell<TValue> Add<TKey, TValue>(IDhtMap<TKey, TValue> map, TKey key) where TKey : notnull
    {
        var typed = _dht.Own(map);
        typed.AddGet(_op, key);
        var cell = new ReadCell<TValue>(typed.ToValue);
        _cells.Add(cell);
        return cell;
    }

    /// <summary>Reads. Throws what a read of <see cref="IDhtMap{TKey, TValue}"/> throws; a key added twice throws <see cref="ArgumentException"/>.</summary>
    public ValueTask<DhtReading> RunAsync(CancellationToken cancellationToken = default)
    {
        if (_ran) throw new InvalidOperationException("A reading runs once.");
        _ran = true;
        if (_cells.Count == 0) return new(this);
        _op.Seal("key");
        return _op.Submit(cancellationToken);
    }

    internal void Set(int index, ReadOnlySpan<byte> value, ulong version) => _cells[index].Set(value, version);
}
