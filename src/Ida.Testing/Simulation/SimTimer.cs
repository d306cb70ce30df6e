namespace Ida.Testing;

/// <summary>A timer in virtual time; a change makes anything scheduled before it stale.</summary>
internal sealed class SimTimer(Simulation simulation, Action callback) : ITimer
{
    private long _change;
    private bool _disposed;

    public bool Change(TimeSpan dueTime, TimeSpan period)
    {
        if (_disposed) return false;
        long change = ++_change;
        if (dueTime >= TimeSpan.Zero) simulation.After(dueTime, () => Fire(change, period));
        return true;
    }

    public void Dispose() => _disposed = true;

    public ValueTask DisposeAsync()
    {
        Dispose();
        return ValueTask.CompletedTask;
    }

    private void Fire(long change, TimeSpan period)
    {
        if (_disposed || change != _change) return;
        if (period > TimeSpan.Zero) simulation.After(period, () => Fire(change, period));
        callback();
    }
}
