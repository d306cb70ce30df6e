namespace Ida;

/// <summary>
/// Reads keys of several maps at one point of the order: <c>var reading = dht.NewReading(); var a = reading.Add(map, key); await
/// reading.RunAsync(); use a.Value</c>. Use it from one thread and run it once; any later call throws <see cref="InvalidOperationException"/>.
/// </summary>
public sealed class DhtReading
{
    private readonly Dht _dht;
    private ReadOperation? _op;
    private readonly List<IReadCell> _cells = [];

    internal DhtReading(Dht dht, GetOptions? options)
    {
        _dht = dht;
        _op = new(dht.Layer);
        dht.BeginGet(_op, options);
        _op.For(this);
    }

    // After RunAsync the operation belongs to the protocol.
    private ReadOperation Open => _op ?? throw new InvalidOperationException("The reading has run: begin another one.");

    /// <summary>Adds a key; after <see cref="RunAsync"/> the cell holds what was found.</summary>
    public ReadCell<TValue> Add<TKey, TValue>(DhtMap<TKey, TValue> map, TKey key) where TKey : notnull
    {
        var typed = _dht.Own(map);
        typed.AddGet(Open, key);
        var cell = new ReadCell<TValue>(typed.ToValue);
        _cells.Add(cell);
        return cell;
    }

    /// <summary>Reads. Throws what a read of <see cref="DhtMap{TKey, TValue}"/> throws; a key added twice throws <see cref="ArgumentException"/>.</summary>
    public ValueTask<DhtReading> RunAsync(CancellationToken cancellationToken = default)
    {
        var op = Open;
        _op = null;
        if (_cells.Count == 0) return cancellationToken.IsCancellationRequested ? ValueTask.FromCanceled<DhtReading>(cancellationToken) : new(this);
        op.Seal("key");
        return DhtTraces.Submit(op, "reading", null, cancellationToken);
    }

    internal void Set(int index, ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, ulong version) => _cells[index].Set(key, value, version);
}
