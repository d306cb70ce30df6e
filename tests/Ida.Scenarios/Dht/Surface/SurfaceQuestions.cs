using GroupCore.Runtime;
using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>
/// Asks members what they hold, what they know, and to tell when they have their state. Any member is asked at any time, also one in user code or without its state, and a
/// question may be cancelled at any time. The next fault does not wait for the answers.
/// </summary>
internal sealed class SurfaceQuestions(DhtWorld world, Prng random, Ingredients ingredients, SurfaceLedger ledger, SurfaceSlices slices, Func<long> now)
{
    private const int Every = 12;

    /// <summary>Asks a question now and then.</summary>
    public void Step()
    {
        if (random.Next(Every) != 0) return;
        var able = world.Members.FindAll(static member => member.Alive && member.Dht is not null);
        if (able.Count == 0) return;
        var member = able[random.Next(able.Count)];
        // Few members wait for their state, so they are preferred.
        if (able.FindAll(static one => one.Host.Current is { IsOver: false, State.Initialised: false }) is { Count: > 0 } loading && random.Next(2) == 0) member = loading[random.Next(loading.Count)];
        var timing = SurfaceTiming.Draw(random, ingredients, world.Deliveries, retry: false);
        int what = random.Next(3);
        // What is waited for may never come.
        var source = timing.Source ?? (what == 2 ? new() : null);
        var token = source?.Token ?? default;
        var dht = member.Dht;
        bool had = member.Host.Current is { State.Initialised: true };
        ulong? view = world.View?.Id;
        var (asked, told) = (what == 0 ? now() : 0, slices.Told);
        (CallKind kind, string name, Task task) = what switch
        {
            0 => (CallKind.Snapshot, SurfaceNames.Snapshot, (Task)dht.SnapshotAsync(token)),
            1 => (CallKind.Status, SurfaceNames.Status, dht.StatusAsync(token)),
            _ => (CallKind.WhenInitialised, SurfaceNames.WhenInitialised, dht.WhenInitialisedAsync(token)),
        };
        ingredients.Draw(name);
        // A token does not count if there is nothing to wait for.
        if (token.IsCancellationRequested && !task.IsCanceled && !(kind == CallKind.WhenInitialised && task.IsCompleted)) throw new ScenarioFailedException($"{name}: a call whose token was cancelled before it was taken.");
        Begin(kind, name, member, task, timing with { Source = source }, waits: what == 2, () =>
        {
            Judge(member, task, had, view);
            if (task is Task<LocalSlice> { Result: var slice }) slices.Add(member, asked, told, slice);
        });
    }

    /// <summary>
    /// A member that says it has all of its shard must have it, or have had it when it was asked; and it must know its own slot. Not judged after a view change, if the member's
    /// part is over, or if a member lies at view changes.
    /// </summary>
    private void Judge(HarnessMember member, Task task, bool had, ulong? view)
    {
        if (world.Lies is not null || member.IsPartOver || view is null || world.View?.Id != view || member.Host.Current is not { } layer) return;
        var (isWhole, slot) = task switch
        {
            Task<LocalSlice> slice => (slice.Result.IsInitialised, slice.Result.Slot),
            Task<DhtStatus> status => (status.Result.IsInitialised, status.Result.OwnSlot),
            _ => (true, layer.State.Slot),
        };
        if (isWhole && !had && !layer.State.Initialised) throw new ScenarioFailedException($"m{member.Index} said that it has all of its shard, and has not.");
        if (slot != layer.State.Slot) throw new ScenarioFailedException($"m{member.Index} said that it has slot {slot}, and has {layer.State.Slot}.");
    }

    /// <summary>Closes a member's part in the DHT, and at times gives up the wait for its end.</summary>
    public void Close(HarnessMember member)
    {
        var timing = SurfaceTiming.Draw(random, ingredients, world.Deliveries, retry: false);
        if (timing.Source is { IsCancellationRequested: true } || random.Next(4) == 0) CloseCancelled(member);
        if (timing.Source is { IsCancellationRequested: true }) timing = SurfaceTiming.Plain;
        ingredients.Draw(SurfaceNames.Close);
        Begin(CallKind.Close, SurfaceNames.Close, member, member.Dht.CloseAsync(timing.Source?.Token ?? default).AsTask(), timing, waits: false);
    }

    // Must be refused at once, and the part must go on.
    private void CloseCancelled(HarnessMember member)
    {
        ingredients.Draw(SurfaceNames.CloseCancelledBefore);
        var source = new CancellationTokenSource();
        source.Cancel();
        // A member that leaves its group is giving its part up already.
        bool goesOn = GoesOn(member);
        var task = member.Dht.CloseAsync(source.Token).AsTask();
        Begin(CallKind.Close, SurfaceNames.CloseCancelledBefore, member, task, SurfaceTiming.Plain with { Source = source }, waits: false);
        if (!task.IsCanceled) throw new ScenarioFailedException($"{SurfaceNames.CloseCancelledBefore}: it is {task.Status} at m{member.Index}.");
        if (!world.IsStalled(member)) member.Turn(static () => { });
        if (goesOn && !GoesOn(member)) throw new ScenarioFailedException($"{SurfaceNames.CloseCancelledBefore}: m{member.Index} gives up its part all the same.");
    }

    private static bool GoesOn(HarnessMember member) => !member.IsPartOver && member.Host.Current is { IsLeaving: false };

    private void Begin(CallKind kind, string name, HarnessMember member, Task task, SurfaceTiming timing, bool waits, Action? succeeded = null)
    {
        ledger.Begin(new(kind, name, member, task, world.Now, TimeSpan.Zero) { Source = timing.Source, Waits = waits, Succeeded = succeeded, CancelAt = timing.CancelAt, CancelInView = timing.CancelInView });
        if (timing.CancelQueued) timing.Source!.Cancel();
    }
}
