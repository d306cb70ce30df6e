namespace Ida.Scenarios;

/// <summary>
/// The calls that have begun. Each ends: in time where it has a bound, with its member's part in the DHT where that ends, and in the end of
/// the schedule at the latest; with a result, or an error that is documented.
/// </summary>
internal sealed class SurfaceLedger(DhtWorld world, Ingredients ingredients)
{
    private readonly List<SurfaceCall> _calls = [];

    public int Open => _calls.Count;

    /// <summary>Whether a call at a member that may not act now has run out of time.</summary>
    public bool HasExpiringAtWedged => _calls.Exists(call => call.Expires && call.Member is { Alive: true, Wedged: true } && call.Task.IsCompleted);

    /// <summary>The calls that are open, for a failing schedule.</summary>
    public string Describe() => string.Join('\n', _calls);

    public void Begin(SurfaceCall call) => _calls.Add(call);

    public void Begin(string what, HarnessMember member, Task task, TimeSpan bound) => _calls.Add(new(what, member, task, world.Now, bound));

    /// <summary>Cancels what is due, and looks which calls have ended.</summary>
    public void Look()
    {
        for (int i = 0; i < _calls.Count; i++)
        {
            var call = _calls[i];
            if (call.CancelAt > world.Deliveries) continue;
            call.CancelAt = long.MaxValue;
            Cancel(call);
        }
        // Whoever hears of an end may begin another call.
        for (int i = 0; i < _calls.Count; i++)
        {
            var call = _calls[i];
            bool gone = !call.Member.Alive;
            if (!call.Task.IsCompleted && !gone)
            {
                if (call.IsLate(world.Now)) throw new ScenarioFailedException($"{call} has not ended in time, at {world.Now / 1_000_000} ms.");
                continue;
            }
            _calls.RemoveAt(i--);
            if (call.Task.IsCompleted) End(call);
            else if (call.Member.Excluded || call.Member.Faulted) throw new ScenarioFailedException($"{call} has not ended with its member's part in the DHT.");
            else call.Lost?.Invoke();
        }
    }

    public void CancelInView()
    {
        foreach (var call in _calls.ToList())
            if (call.CancelInView) Cancel(call);
    }

    /// <summary>What waits for something that may never come is cancelled, and must end for that.</summary>
    public void CancelWaits()
    {
        foreach (var call in _calls.ToList())
            if (call.Waits) Cancel(call);
    }

    private void Cancel(SurfaceCall call)
    {
        if (!call.Member.Alive) return;
        call.Source!.Cancel();
        if (!world.IsStalled(call.Member)) call.Member.Turn(static () => { });
    }

    private void End(SurfaceCall call)
    {
        if (call.Ended is { } ended)
        {
            ended(call.Task);
            return;
        }
        if (call.Task.Exception?.InnerException is not { } error) return;
        if (error is OverloadedException) ingredients.Draw(SurfaceNames.Refused);
        if (!SurfaceCall.IsDocumented(error)) throw new ScenarioFailedException($"{call} ended with {error}");
    }
}
