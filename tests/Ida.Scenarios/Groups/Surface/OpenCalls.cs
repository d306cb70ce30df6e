using Ida.Testing;
using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>
/// The calls that are open. Each must end with a documented outcome: within its bound if it has one, soon after its token if that
/// ends it, with the life of its node if that ends, and at the end of the schedule at the latest. Nothing is demanded of calls that a crash took.
/// </summary>
internal sealed class OpenCalls(Simulation simulation, CallTable table, Measures measures, Func<TimeSpan, TimeSpan> userWork, Func<string> places)
{
    // By how much a busy or drifting node may be late.
    private static readonly TimeSpan s_slack = TimeSpan.FromSeconds(1.5);

    // View changes after the last fault, each of which may wait for hooks, for a state that is saved, and for a process that has to be suspected first; the longest of some
    // hundred seeds took 23 s.
    private static readonly TimeSpan s_last = TimeSpan.FromSeconds(60);
    private readonly List<OpenCall> _open = [];

    /// <summary>Since when nothing fails any more, and no user code begins to keep its thread for ever; null: not yet.</summary>
    public TimeSpan? CalmSince { get; set; }

    public int Count => _open.Count(static call => !call.GoesOn);

    public int All => _open.Count;

    public void Add(OpenCall call)
    {
        table.Begin(call.Kind);
        _open.Add(call);
        if (call.Timing.Queued) Cancel(call);
    }

    /// <summary>Demands that a call is refused at once for what it asks for.</summary>
    public void Refused<T>(CallKind kind, Action call) where T : Exception => Expect.Refuses<T>(table, kind, call);

    /// <summary>Notes in the table that something happens while calls are open.</summary>
    public void Meet(string what)
    {
        foreach (var kind in _open.Select(static call => call.Kind).Distinct()) table.Add(kind, what);
    }

    public string Describe() => string.Join('\n', _open.Take(12));

    /// <summary>Some member is between two views: the calls that are to be cancelled then are due.</summary>
    public void CancelInViews()
    {
        foreach (var call in _open)
            if (call.CancelInView) call.CancelAt = simulation.Now;
    }

    /// <summary>Cancels what is due and judges what has ended, or should have.</summary>
    public void Look()
    {
        for (int i = 0; i < _open.Count; i++)
        {
            var call = _open[i];
            // A call that has ended is not cancelled: its token would excuse its error.
            if (call.CancelAt <= simulation.Now && !call.Task.IsCompleted) Cancel(call);
            if (call.Task.IsCompleted)
            {
                _open.RemoveAt(i--);
                table.End(call.Kind, call.Task);
                if (IsLast(call)) measures.Note($"{call.Kind} behind the faults", simulation.Now - Later(call.Begun, CalmSince!.Value));
                if (CallErrors.Undocumented(call.Kind, call.Task, call.Source is { IsCancellationRequested: true }) is { } error) throw new ScenarioFailedException($"{call}, ended with what the guide does not say of it: {error}");
                if (call.Judge(call.Task) is { } wrong) throw new ScenarioFailedException($"{call}, ended {wrong}, at {simulation.Now.TotalMilliseconds:0.###} ms.");
                continue;
            }
            if (!call.Life.Alive || call.Place.Member.Host != call.Life)
            {
                if (call.Place.HasCrashed(call.Life))
                {
                    table.Lose(call.Kind, call.Task);
                    _open.RemoveAt(i--);
                }
                else if (simulation.Now - (call.LifeEndedAt ??= simulation.Now) > s_slack) throw Late(call, "with the life of its node");
            }
            else if (IsLast(call) && IsLastLate(call)) throw Late(call, "in time, though nothing fails any more");
            else if (call.Bound is { } bound && simulation.Now > Later(call.Begun, call.Place.AwakeSince) + bound + bound / 20 + s_slack) throw Late(call, "in time");
        }
    }

    public void Cancel(OpenCall call)
    {
        call.CancelAt = TimeSpan.MaxValue;
        call.CancelInView = false;
        call.Cancelled?.Invoke();
        // As from a thread of the program: what the library awaits goes on there, and not on a pool.
        var outer = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        call.Source!.Cancel();
        SynchronizationContext.SetSynchronizationContext(outer);
        if (call.EndsByToken) call.Bound = simulation.Now - call.Begun;
    }

    /// <summary>Whether a call waits for others where nothing fails any more, and has no bound of its own, nor goes on as long as its group.</summary>
    private bool IsLast(OpenCall call) => CalmSince is not null && !call.GoesOn && call.Bound is null;

    /// <summary>Whether such a call takes longer than it may, not counting the time for which user code is at work meanwhile.</summary>
    private bool IsLastLate(OpenCall call)
    {
        var over = simulation.Now - Later(Later(call.Begun, CalmSince!.Value), call.Place.AwakeSince) - s_last;
        return over > TimeSpan.Zero && over > userWork(CalmSince.Value);
    }

    private ScenarioFailedException Late(OpenCall call, string how) => new($"{call}, has not ended {how}, at {simulation.Now.TotalMilliseconds:0.###} ms.\n{places()}");

    private static TimeSpan Later(TimeSpan one, TimeSpan other) => one > other ? one : other;
}
