using System.Globalization;

namespace Ida.Testing.Calls;

/// <summary>
/// Every public call that a checked run makes: that it began, and how and within which bound it ended. None may be open at the end, and each must end as the guide says
/// (<see cref="CallErrors"/>). Thread-safe.
/// </summary>
/// <param name="now">The time that bounds are counted in: virtual, or without the time for which the process was stopped.</param>
/// <param name="longest">How long a call may take that has no bound of its own; null: as long as the run.</param>
/// <param name="slack">How much later than it should a call may end; null: <see cref="Slack"/>.</param>
/// <param name="passes">The time that also passes while a process is held up, and in which the times of calls run out; null: as <paramref name="now"/>.</param>
internal sealed class CallLedger(Func<TimeSpan> now, TimeSpan? longest = null, TimeSpan? slack = null, Func<TimeSpan>? passes = null)
{
    private const int MostWrong = 20;

    // A clock may be fast, and a call's time begins with the turn that takes the call.
    private const double LeastClock = 0.95;
    private static readonly TimeSpan s_leastTimeout = TimeSpan.FromSeconds(1);

    /// <summary>How much later than it should a call may end: for a busy machine, or a clock that is slow.</summary>
    public static readonly TimeSpan Slack = TimeSpan.FromSeconds(1.5);

    private readonly TimeSpan _slack = slack ?? Slack;
    private readonly Lock _lock = new();
    private readonly List<OpenEntry> _open = [];
    private readonly List<string> _wrong = [];
    private readonly CallTable _table = new();
    private volatile bool _hasEnded;

    /// <summary>
    /// How long a call that has no bound of its own may take among whole nodes in simulation: a few times longer than a node that is cut off takes to give up its place, and
    /// than those that wait for that.
    /// </summary>
    public static readonly TimeSpan Longest = TimeSpan.FromMinutes(5);

    /// <summary>The time that bounds are counted in.</summary>
    public TimeSpan Now => now();

    /// <summary>Calls that have not ended, of processes that live.</summary>
    public int Open
    {
        get
        {
            Look();
            lock (_lock) return _open.Count(static entry => !entry.Task.IsCompleted);
        }
    }

    /// <summary>The first call of a caller that has not ended; null if there is none.</summary>
    public string? OpenOf(ICaller caller)
    {
        lock (_lock) return _open.Find(entry => entry.Caller == caller && !entry.Task.IsCompleted)?.ToString();
    }

    /// <summary>What calls did that they must not do; null if nothing.</summary>
    public string? Wrong
    {
        get
        {
            if (_hasEnded) Look();
            lock (_lock) return _wrong.Count == 0 ? null : string.Join('\n', _wrong);
        }
    }

    /// <summary>Makes a call and keeps the task that it returned, or one with what it threw instead.</summary>
    /// <param name="kind">What is called.</param>
    /// <param name="who">The caller, for a report.</param>
    /// <param name="call">Makes it.</param>
    /// <param name="caller">The life in which it is made; null: one that goes on as long as the run.</param>
    /// <param name="bound">How long it may take; null: as long as any.</param>
    /// <param name="mayBeOver">Whether the part of its member may be over, so that the call may end with an error that says so. Null: only if the caller's life is over; if
    /// there is no caller either, always.</param>
    /// <param name="timeout">The time that its caller gave it, before which a put or a get must not give up; null: that is not judged.</param>
    /// <param name="token">Its token: the call may end as cancelled only if this was cancelled.</param>
    public T Begin<T>(CallKind kind, string who, Func<T> call, ICaller? caller = null, TimeSpan? bound = null, Func<bool>? mayBeOver = null, TimeSpan? timeout = null, CancellationToken token = default)
        where T : Task
    {
        ArgumentNullException.ThrowIfNull(call);
        var entry = new OpenEntry(now, passes ?? now, kind, who, caller, mayBeOver, token) { Bound = bound ?? longest, Timeout = timeout };
        lock (_lock) _table.Begin(kind);
        try
        {
            var task = call();
            Keep(entry, task);
            return task;
        }
        catch (Exception error)
        {
            Keep(entry, Task.FromException(error));
            throw;
        }
    }

    /// <summary>Notes in the table that something happens while calls are open.</summary>
    public void Meet(string what)
    {
        Look();
        lock (_lock)
            foreach (var kind in _open.Where(static entry => !entry.Task.IsCompleted).Select(static entry => entry.Kind).Distinct()) _table.Add(kind, what);
    }

    /// <summary>Notes in the table that a call of that kind is made in an unusual way.</summary>
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
        _hasEnded = false;
        lock (_lock) _open.RemoveAll(IsDone);
    }

    /// <summary>The run is over: no call may be open, except those lost in crashes.</summary>
    /// <param name="onlyOver">Nobody decides any more, so only calls whose node has ended, and those whose time is up, must have ended.</param>
    public void Finish(bool onlyOver = false)
    {
        lock (_lock)
        {
            // A call that ends meanwhile is judged as far as possible.
            foreach (var entry in _open)
            {
                if (IsDone(entry)) continue;
                if (entry.IsCounted) Doubt(entry);
                else if (!onlyOver || entry.Life == CallerLife.Over) Report($"{entry} is still open at the end");
            }
            _open.Clear();
        }
    }

    private void Keep(OpenEntry entry, Task task)
    {
        entry.Watch(task, () => _hasEnded = true);
        lock (_lock) _open.Add(entry);
    }

    private bool IsDone(OpenEntry entry)
    {
        if (entry.End is { } end) return IsJudged(entry, end);
        var life = entry.Life;
        if (life == CallerLife.Lost)
        {
            _table.Lose(entry.Kind, entry.Task);
            return true;
        }
        if (life == CallerLife.Over && entry.OverFor() > _slack)
        {
            Report($"{entry} has not ended with its node");
            return true;
        }
        if (CallErrors.EndsByToken(entry.Kind) && entry.CancelledFor() > _slack)
        {
            Report($"{entry} has not ended with its token");
            return true;
        }
        if (!entry.IsLate(entry.Took, _slack)) return false;
        ReportLate(entry, entry.Took, "is open");
        return true;
    }

    private bool IsJudged(OpenEntry entry, CallEnd end)
    {
        // Whatever a process that has crashed is told, there is nobody to hear it.
        if (end.Life == CallerLife.Lost)
        {
            _table.Lose(entry.Kind, entry.Task);
            return true;
        }
        var error = CallErrors.ErrorOf(entry.Task);
        if (!entry.IsCounted)
        {
            entry.IsCounted = true;
            _table.End(entry.Kind, entry.Task);
            if (entry.IsLate(end.Took, _slack)) ReportLate(entry, end.Took, "ended");
            if (error is not null && !CallErrors.Allows(entry.Kind, error, end.WasCancelled)) Report($"{entry} ended with what the guide does not say of it: {error}");
            // If there is nothing to wait for, a token does not count.
            if (error is null && entry.WasNever && CallErrors.EndsByToken(entry.Kind) && entry.Kind != CallKind.WhenInitialised) Report($"{entry} ended well, though its token was cancelled before");
        }
        if (error is null || !(CallErrors.MeaningOf(entry.Kind, error) == ErrorMeaning.Over || IsEarly(entry, end, error)) || entry.MayBeOver) return true;
        // Other parts of the same process may hear of the end later.
        if (now() - end.At <= _slack) return false;
        Doubt(entry);
        return true;
    }

    private static bool IsEarly(OpenEntry entry, CallEnd end, Exception error) =>
        entry.Timeout is { } timeout && (timeout == Timeout.InfiniteTimeSpan || (timeout >= s_leastTimeout && end.Passed < timeout * LeastClock)) && !end.WasCancelled && CallErrors.GaveUp(entry.Kind, error);

    private void Doubt(OpenEntry entry)
    {
        var error = CallErrors.ErrorOf(entry.Task)!;
        if (CallErrors.MeaningOf(entry.Kind, error) == ErrorMeaning.Over) Report($"{entry} was told that its part is over, and it goes on: {error}");
        else if (IsEarly(entry, entry.End!, error)) Report(string.Create(CultureInfo.InvariantCulture, $"{entry} gave up after {entry.End!.Passed.TotalSeconds:0.###} s, and had {entry.Timeout!.Value.TotalSeconds:0.###} s: {error}"));
    }

    private void ReportLate(OpenEntry entry, TimeSpan took, string how) =>
        Report(string.Create(CultureInfo.InvariantCulture, $"{entry} {how} after {took.TotalSeconds:0.###} s, and had {entry.Bound!.Value.TotalSeconds:0.###} s"));

    private void Report(string what)
    {
        if (_wrong.Count < MostWrong) _wrong.Add(what);
    }
}
