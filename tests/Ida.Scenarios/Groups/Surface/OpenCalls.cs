using Ida.Testing;
using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>
/// The calls that are open. Each ends with an outcome that is documented: within its bound where it has one, soon after its token where that
/// ends it, with the life of its node where that ends, and at the end of the schedule at the latest. Nobody hears of what a crash took.
/// </summary>
internal sealed class OpenCalls(Simulation simulation, CallTable table)
{
    // What a busy or drifting node may be late by.
    private static readonly TimeSpan s_slack = TimeSpan.FromSeconds(1.5);
    private readonly List<OpenCall> _open = [];

    public int Count => _open.Count(static call => !call.GoesOn);

    public int All => _open.Count;

    public void Add(OpenCall call)
    {
        table.Begin(call.Kind);
        _open.Add(call);
    }

    /// <summary>A call was refused at once for what it asked for.</summary>
    public void Refused<T>(CallKind kind, Action call) where T : Exception => Expect.Refuses<T>(table, kind, call);

    /// <summary>Something happens while calls are open.</summary>
    public void Meet(string what)
    {
        foreach (var kind in _open.Select(static call => call.Kind).Distinct()) table.Add(kind, what);
    }

    public string Describe() => string.Join('\n', _open.Take(12));

    /// <summary>Some member is between two views.</summary>
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
            // What has ended before is not cancelled: its token would excuse how.
            if (call.CancelAt <= simulation.Now && !call.Task.IsCompleted) Cancel(call);
            if (call.Task.IsCompleted)
            {
                _open.RemoveAt(i--);
                table.End(call.Kind, call.Task);
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

    private ScenarioFailedException Late(OpenCall call, string how) => new($"{call}, has not ended {how}, at {simulation.Now.TotalMilliseconds:0.###} ms.");

    private static TimeSpan Later(TimeSpan one, TimeSpan other) => one > other ? one : other;
}
