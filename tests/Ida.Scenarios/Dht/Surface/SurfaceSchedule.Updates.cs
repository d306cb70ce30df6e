using Ida.Testing.Calls;

namespace Ida.Scenarios;

/// <summary>
/// Updates with every option, cancelled at every step, with functions that throw, remove, take long, call back, and let other puts come in between. If the outcome of an update
/// is unknown, retries of its last put find it out.
/// </summary>
internal sealed partial class SurfaceSchedule
{
    // An update that removes an absent key puts nothing, so its answer rests on its read alone.
    private static readonly SurfaceHabit[] s_habits = [.. Enum.GetValues<SurfaceHabit>(), SurfaceHabit.Removes, SurfaceHabit.Removes];

    // An update's reads and puts are strict, whatever level is asked for.
    private void Update(HarnessMember member, ConsistencyLevel level)
    {
        _drawn.Draw(SurfaceNames.Update);
        var habit = s_habits[_updates.Next(s_habits.Length)];
        var timing = SurfaceTiming.Draw(_updates, _drawn, _world.Deliveries, retry: false);
        // It must end with its time, though each of its reads and puts takes less.
        if (habit == SurfaceHabit.MeetsAlways) timing = timing with { Timeout = TimeSpan.FromMilliseconds(1 + _updates.Next(300)) };
        if (habit == SurfaceHabit.Cancels && timing.Source is null) timing = timing with { Source = new() };
        ConsistencyLevel? named = level == _world.Options.Member.Level && _updates.Next(2) == 0 ? null : level;
        DrawUpdate(timing, named);
        var options = named is null && timing.Timeout is null ? null : new PutOptions { Level = named, Timeout = timing.Timeout };
        var operation = new SurfaceOperation($"c{++_name}", ConsistencyLevel.Strict) { Through = member.Index, Calls = 1, Open = 1 };
        operation.Parts.Add(new(habit == SurfaceHabit.Removes ? PartKind.Remove : PartKind.Put, SurfaceDriver.Values[0], _keys[_conditions.Next(_keys.Length)], ++_element, 0));
        operation.InvokeUpdate(Recorder, member.Index);
        _open.Add(operation);
        var part = operation.Parts[0];
        var update = new SurfaceUpdate(part.Kind == PartKind.Remove ? null : part.Value, one =>
        {
            operation.Given(Recorder, member.Index, one.Version, one.Found);
            Do(habit, one.Calls, member, part, timing);
        });
        var token = timing.Source?.Token ?? default;
        var task = update.RunAsync(SurfaceDriver.Value(member.Dht, part.Map), part.Key, options, token);
        if (token.IsCancellationRequested && !task.IsCanceled) throw new ScenarioFailedException($"Update {operation.Client}, whose token was cancelled before it was taken, is {task.Status}.");
        _ledger.Begin(new(CallKind.Update, $"of {operation.Client}", member, task, _world.Now, timing.Timeout ?? TimeSpan.Zero)
        {
            Source = timing.Source, CancelAt = timing.CancelAt, CancelInView = timing.CancelInView, Options = [.. timing.Options, SurfaceTiming.OptionOf(named)],
            Ended = ended => UpdateEnded(operation, update, ended), Lost = () => Lost(operation),
        });
        if (timing.CancelQueued) timing.Source!.Cancel();
        Turn(member);
    }

    private void DrawUpdate(SurfaceTiming timing, ConsistencyLevel? level)
    {
        if (level is not null) _drawn.Draw(SurfaceNames.UpdateLevel);
        if (level == ConsistencyLevel.Ordered) _drawn.Draw(SurfaceNames.StrictAnyway);
        if (timing.Timeout is not null) _drawn.Draw(SurfaceNames.UpdateTime);
        if (timing.Source is not null) _drawn.Draw(SurfaceNames.UpdateToken);
    }

    /// <summary>What the function of an update does when it is called for the <paramref name="calls"/>th time.</summary>
    private void Do(SurfaceHabit habit, int calls, HarnessMember member, SurfacePart part, SurfaceTiming timing)
    {
        if (calls > 1) _drawn.Draw(SurfaceNames.UpdateMeets);
        switch (habit)
        {
            case SurfaceHabit.Throws:
                _drawn.Draw(SurfaceNames.UpdateThrows);
                throw new DrawnFaultException();
            case SurfaceHabit.ThrowsAgain when calls > 1:
                _drawn.Draw(SurfaceNames.UpdateThrowsAgain);
                throw new DrawnFaultException();
            case SurfaceHabit.Removes:
                _drawn.Draw(SurfaceNames.UpdateRemoves);
                break;
            case SurfaceHabit.Blocks:
                _drawn.Draw(SurfaceNames.UpdateBlocks);
                member.Stall(TimeSpan.FromMilliseconds(_updates.Next(2_000)));
                break;
            case SurfaceHabit.Calls:
                _drawn.Draw(SurfaceNames.UpdateCalls);
                CallFrom(member);
                break;
            case SurfaceHabit.Cancels:
                _drawn.Draw(SurfaceNames.UpdateCancels);
                timing.Source!.Cancel();
                break;
            case SurfaceHabit.ThrowsAgain or SurfaceHabit.Meets when calls == 1:
                ComeBetween(_updates.Next(3) == 0 && Pick(member.Index) is { } another ? another : member, part, plain: false);
                break;
            // Not at the end, where no time passes as long as anything is delivered.
            case SurfaceHabit.MeetsAlways when !_isOver:
                ComeBetween(member, part, plain: true);
                break;
        }
    }

    // These calls go on beside the update; its function does not await them.
    private void CallFrom(HarnessMember member)
    {
        const string who = "of a function of an update";
        var texts = SurfaceDriver.Value(member.Dht, "x");
        _ledger.Begin(CallKind.Put, who, member, texts.PutAsync("u0", "u").AsTask());
        _ledger.Begin(CallKind.Get, who, member, texts.GetAsync("u1").AsTask());
        _ledger.Begin(CallKind.Update, who, member, texts.UpdateAsync("u1", static text => text.ValueOr("") is { Length: < 9 } held ? held + "u" : "u").AsTask());
        _ledger.Begin(CallKind.Status, who, member, member.Dht.StatusAsync());
    }

    // At the same member the put comes before the next step of the update.
    private void ComeBetween(HarnessMember member, SurfacePart part, bool plain)
    {
        var other = new SurfaceOperation($"c{++_name}", ConsistencyLevel.Strict);
        other.Parts.Add(new(PartKind.Put, part.Map, part.Key, ++_element, 0));
        other.Invoke(Recorder, member.Index);
        _open.Add(other);
        Call(other, member, first: true, plain);
    }

    private void UpdateEnded(SurfaceOperation operation, SurfaceUpdate update, Task ended)
    {
        operation.Open--;
        if (update.Calls > 0) _known.Learn(operation.Parts[0].Name, update.Version, update.Found);
        if (CallErrors.ErrorOf(ended) is { } error)
        {
            if (error is OutcomeUnknownException)
            {
                _drawn.Draw(SurfaceNames.UpdateUnknown);
                operation.BecomeLastPut(update.Version, update.Found);
            }
            else if (error is OperationNotExecutedException && error.Message.StartsWith("Not updated", StringComparison.Ordinal)) _drawn.Draw(SurfaceNames.UpdateNever);
            operation.Unknown |= MayBeExecuted(CallKind.Update, error, operation);
        }
        else if (!update.HasThrown)
        {
            operation.Done = true;
            _open.Remove(operation);
            operation.OkUpdate(Recorder, update.Version, update.Found);
        }
        GoOn(operation);
    }
}
