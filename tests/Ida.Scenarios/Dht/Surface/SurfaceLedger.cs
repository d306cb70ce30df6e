using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>
/// The calls that have begun. Each must end with a result or a documented error: in time if it has a bound, with its member's part in the DHT if
/// that ends, and by the end of the schedule at the latest. Nothing is demanded of calls whose member crashed.
/// </summary>
internal sealed class SurfaceLedger(DhtWorld world, Ingredients ingredients, CallTable table)
{
    private readonly List<SurfaceCall> _calls = [];

    public int Open => _calls.Count;

    /// <summary>Whether a call at a member that may not act now has run out of time.</summary>
    public bool HasExpiringAtWedged => _calls.Exists(call => call.Expires && call.Member is { Alive: true, Wedged: true } && call.Task.IsCompleted);

    /// <summary>The calls that are open, for a failing schedule.</summary>
    public string Describe() => string.Join('\n', _calls);

    public void Begin(SurfaceCall call)
    {
        table.Begin(call.Kind);
        foreach (string option in call.Options) table.Add(call.Kind, CallTable.OptionOf(option));
        _calls.Add(call);
    }

    public void Begin(CallKind kind, string what, HarnessMember member, Task task) => Begin(new(kind, what, member, task, world.Now, TimeSpan.Zero));

    /// <summary>Notes in the table that something happens while calls are open.</summary>
    public void Meet(string what)
    {
        foreach (var kind in _calls.Select(static call => call.Kind).Distinct()) table.Add(kind, what);
    }

    /// <summary>Demands that a call is refused at once for what it asks for.</summary>
    public void Refused<T>(CallKind kind, string misuse, Action call) where T : Exception
    {
        table.Add(kind, CallTable.MisuseOf(misuse));
        Expect.Refuses<T>(table, kind, call);
    }

    /// <summary>Demands that a call, when it ends, is refused for what it asks for.</summary>
    public void RefusedLater<T>(CallKind kind, string misuse, HarnessMember member, Task call) where T : Exception
    {
        table.Add(kind, CallTable.MisuseOf(misuse));
        Begin(new(kind, misuse, member, call, world.Now, TimeSpan.Zero)
        {
            Ended = static ended =>
            {
                if (CallErrors.ErrorOf(ended) is not T) throw new ScenarioFailedException($"A misuse that {typeof(T).Name} answers was answered with {ended.Exception?.InnerException?.ToString() ?? "a result"}.");
            },
        });
    }

    /// <summary>Cancels what is due, and looks which calls have ended.</summary>
    public void Look()
    {
        for (int i = 0; i < _calls.Count; i++)
        {
            var call = _calls[i];
            // A call that has ended is not cancelled: its token would excuse its error.
            if (call.CancelAt > world.Deliveries || call.Task.IsCompleted) continue;
            call.CancelAt = long.MaxValue;
            Cancel(call);
        }
        // What is called at an end may begin another call.
        for (int i = 0; i < _calls.Count; i++)
        {
            var call = _calls[i];
            bool gone = !call.Member.Alive;
            if (!call.Task.IsCompleted && !gone)
            {
                if (call.IsDeaf) throw new ScenarioFailedException($"{call} has not ended with its token, at {world.Now / 1_000_000} ms.");
                if (call.IsLate) throw new ScenarioFailedException($"{call} has not ended in time, at {world.Now / 1_000_000} ms.");
                continue;
            }
            _calls.RemoveAt(i--);
            if (call.Task.IsCompleted) End(call);
            else if (call.Member.Excluded || call.Member.Faulted) throw new ScenarioFailedException($"{call} has not ended with its member's part in the DHT.");
            else
            {
                table.Lose(call.Kind, call.Task);
                call.Lost?.Invoke();
            }
        }
    }

    public void CancelInView()
    {
        foreach (var call in _calls.ToList())
            if (call.CancelInView) Cancel(call);
    }

    /// <summary>Cancels the calls that wait for something which may never come; that must end them.</summary>
    public void CancelWaits()
    {
        foreach (var call in _calls.ToList())
            if (call.Waits) Cancel(call);
    }

    private void Cancel(SurfaceCall call)
    {
        if (!call.Member.Alive || call.Task.IsCompleted) return;
        call.Source!.Cancel();
        if (!world.IsStalled(call.Member)) call.Member.Turn(static () => { });
    }

    private void End(SurfaceCall call)
    {
        table.End(call.Kind, call.Task);
        bool cancelled = call.Source is { IsCancellationRequested: true };
        if (CallErrors.Undocumented(call.Kind, call.Task, cancelled) is { } undocumented) throw new ScenarioFailedException($"{call} ended with what the guide does not say of it: {undocumented}");
        var error = CallErrors.ErrorOf(call.Task);
        if (error is not null && CallErrors.MeaningOf(call.Kind, error) == ErrorMeaning.Over && !call.Member.IsPartOver) throw new ScenarioFailedException($"{call} was told that its member's part is over, and it goes on: {error}");
        // A member that lies can make a call end at once; and of two puts under one id only one is waited for.
        if (error is not null && !cancelled && !call.Expires && call.Kind != CallKind.Retry && world.Lies is null && CallErrors.GaveUp(call.Kind, error) && !call.Member.IsPartOver)
            throw new ScenarioFailedException($"{call} gave up before its time was over: {error}");
        if (call.Ended is { } ended)
        {
            ended(call.Task);
            return;
        }
        if (error is null)
        {
            call.Succeeded?.Invoke();
            return;
        }
        if (error is OverloadedException) ingredients.Draw(SurfaceNames.Refused);
        if (!CallErrors.Allows(call.Kind, error, cancelled)) throw new ScenarioFailedException($"{call} ended with {error}");
    }
}
