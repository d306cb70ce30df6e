namespace GroupCore.Basics;

/// <summary>How fast a backlog has drained lately; estimates how long the rest of it takes.</summary>
internal struct DrainRate()
{
    private const long WindowNanoseconds = 50_000_000;
    private const double LeastSeconds = 0.001, MostSeconds = 1;
    private long _amount;
    private long _windowAt = long.MinValue;
    private double _rate;

    /// <summary>Notes that <paramref name="amount"/> has drained.</summary>
    public void Add(long amount) => _amount += amount;

    /// <summary>Call it now and then. The latest window counts half, so that neither an idle moment nor a burst decides the rate.</summary>
    public void Measure(long now)
    {
        if (_windowAt == long.MinValue) _windowAt = now;
        long time = now - _windowAt;
        if (time < WindowNanoseconds) return;
        double latest = _amount * 1e9 / time;
        _rate = _rate == 0 ? latest : (_rate + latest) / 2;
        (_windowAt, _amount) = (now, 0);
    }

    /// <summary>How long until <paramref name="amount"/> has drained at this rate; between 1 ms and 1 s.</summary>
    public readonly TimeSpan TimeFor(long amount) =>
        TimeSpan.FromSeconds(_rate > 0 ? Math.Clamp(amount / _rate, LeastSeconds, MostSeconds) : MostSeconds);
}
