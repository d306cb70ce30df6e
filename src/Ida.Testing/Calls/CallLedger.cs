using System.Globalization;

namespace Ida.Testing.Calls;

/// <summary>
/// Every public call that a checked run makes: begun, and ended, how and within which bound. None is open in the end, and each ends with what the guide says of it
/// (<see cref="CallErrors"/>). Thread-safe.
/// </summary>
/// <param name="now">The time that bounds are counted in: virtual, or without the time for which the process was stopped.</param>
/// <param name="slack">How much later than it must a call may end; null: <see cref="Slack"/>.</param>
internal sealed class CallLedger(Func<TimeSpan> now, TimeSpan? slack = null)
{
    private const int MostWrong = 20;

    /// <summary>How much later than it must a call may end: a busy machine, a clock that is slow.</summary>
    public static readonly TimeSpan Slack = TimeSpan.FromSeconds(1.5);

    private readonly TimeSpan _slack = slack ?? Slack;
    private readonly Lock _lock = new();
    private readonly List<Entry> _open = [];
    private readonly List<string> _wrong = [];
    private readonly CallTable _table = new();

    /// <summary>Calls that have not ended, of processes that live.</summary>
    public int Open
    {
        get
        {
            Look();
            lock (_lock) return _open.Count;
        }
    }

    /// <summary>What calls did that they must not; null when nothing.</summary>
    public string? Wrong
    {
        get
        {
            lock (_lock) return _wrong.Count == 0 ? null : string.Join('\n', _wrong);
        }
    }

    /// <summary>Makes a call and keeps it: the task that it returned, or one with what it threw instead.</summary>
    /// <param name="kind">What is called.</param>
    /// <param name="who">The caller, for a report.</param>
    /// <param name="call">Makes it.</param>
    /// <param name="life">What has become of the caller; null: it goes on as long as the run.</param>
    /// <param name="bound">How long it may take; null: as long as the run.</param>
    /// <param name="token">Its token: a call ends as cancelled only where this was.</param>
    public T Begin<T>(CallKind kind, string who, Func<T> call, Func<CallerLife>? life = null, TimeSpan? bound = null, CancellationToken token = default)
        where T : Task
    {
        ArgumentNullException.ThrowIfNull(call);
        var begun = now();
        lock (_lock) _table.Begin(kind);
        try
        {
            var task = call();
            lock (_lock) _open.Add(new(kind, who, task, begun, bound, life, token));
            return task;
        }
        catch (Exception error)
        {
            lock (_lock) Judge(new(kind, who, Task.FromException(error), begun, bound, life, token));
            throw;
        }
    }

    /// <summary>Something happens while calls are open: for the table.</summary>
    public void Meet(string what)
    {
        Look();
        lock (_lock)
            foreach (var kind in _open.Select(static entry => entry.Kind).Distinct()) _table.Add(kind, what);
    }

    /// <summary>A call of that kind is made in an unusual way: for the table.</summary>
    public void Note(CallKind kind, string how)
    {
        lock (_lock) _table.Add(kind, how);
    }

    /// <summary>Adds what was counted.</summary>
    public void AddTo(CallTable table)
    {
        ArgumentNullException.ThrowIfNull(table);
        Look();
        lock (_lock) table.Add(_table);
    }

    /// <summary>A caller has found something that calls must not do.</summary>
    public void Accuse(string what)
    {
        lock (_lock) Report(what);
    }

    /// <summary>Judges what has ended, and what should have.</summary>
    public void Look()
    {
        var time = now();
        lock (_lock) _open.RemoveAll(entry => IsDone(entry, time));
    }

    /// <summary>The run is over: no call is open but those that crashes took.</summary>
    public void Finish()
    {
        Look();
        lock (_lock)
        {
            foreach (var entry in _open) Report($"{entry} is open in the end");
            _open.Clear();
        }
    }

    private bool IsDone(Entry entry, TimeSpan time)
    {
        var life = entry.Life?.Invoke();
        // Whatever a process that has crashed is told, there is nobody to hear it.
        if (life == CallerLife.Lost)
        {
            _table.Lose(entry.Kind, entry.Task);
            return true;
        }
        if (entry.Task.IsCompleted)
        {
            Judge(entry);
            return true;
        }
        if (life == CallerLife.Over && time - (entry.OverSince ??= time) > _slack)
        {
            Report($"{entry} has not ended with its node");
            return true;
        }
        if (entry.Bound is not { } bound || time - entry.Begun <= bound + _slack) return false;
        Report(string.Create(CultureInfo.InvariantCulture, $"{entry} is open after {(time - entry.Begun).TotalSeconds:0.###} s, and had {bound.TotalSeconds:0.###} s"));
        return true;
    }

    private void Judge(Entry entry)
    {
        _table.End(entry.Kind, entry.Task);
        if (CallErrors.ErrorOf(entry.Task) is { } error && !CallErrors.Allows(entry.Kind, error, entry.Token.IsCancellationRequested)) Report($"{entry} ended with what the guide does not say of it: {error}");
    }

    private void Report(string what)
    {
        if (_wrong.Count < MostWrong) _wrong.Add(what);
    }

    private sealed record Entry(CallKind Kind, string Who, Task Task, TimeSpan Begun, TimeSpan? Bound, Func<CallerLife>? Life, CancellationToken Token)
    {
        public TimeSpan? OverSince { get; set; }

        public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Kind} of {Who}, begun at {Begun.TotalMilliseconds:0.###} ms,");
    }
}
