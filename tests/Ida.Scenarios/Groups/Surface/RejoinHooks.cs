using GroupCore.Runtime;
using Ida.Testing;

namespace Ida.Scenarios;

/// <summary>
/// What the program of a process does in <see cref="IdaNodeOptions.OnRejoined"/>, and what becomes of it there: the life that it is called for may be lost
/// again while the call waits, ends, throws, or stays where it is. The token must say so in time, what the call then throws must cost nothing, and the next life
/// must have a call of its own, unless the node has ended as its options say.
/// </summary>
internal sealed class RejoinHooks(GroupSurface surface, GroupFaults faults)
{
    // A call that stays goes on for longer than the 5 s for which the next life waits for it.
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(5), s_slack = TimeSpan.FromSeconds(1), s_stays = TimeSpan.FromSeconds(8);

    // Its own random numbers, so that what others draw does not depend on how often it is called.
    private readonly Prng _random = new(surface.Case.Seed ^ 0x4E0117);

    private Simulation Simulation => surface.Simulation;

    /// <summary>Lives are lost by turns that throw: few others are lost before the schedule is over.</summary>
    public void Begin() => LoseOneIn(50, 800);

    private void LoseOneIn(int least, int most) => Simulation.After(TimeSpan.FromMilliseconds(_random.Next(least, most)), () =>
    {
        if (surface.IsOver) return;
        var active = surface.Places.FindAll(static place => place.IsActive && place.IsAwake);
        if (active.Count == 0 || !faults.TryCost())
        {
            LoseOneIn(50, 400);
            return;
        }
        var place = active[_random.Next(active.Count)];
        if (!surface.Case.Happens($"turn of {place.Member} throws at {Simulation.Now}")) return;
        surface.Drawn.Draw(GroupNames.TurnThrows);
        Throw(place, place.Member.Host);
        LoseOneIn(1_500, 2_500);
    });

    public Task OnRejoinedAsync(GroupPlace place, CancellationToken token)
    {
        place.AwaitsRejoin = false;
        if (surface.IsOver) return Task.CompletedTask;
        surface.JoinFirst(place);
        if (!faults.TryCost(again: true) || !surface.Case.Happens($"loss of the life of {place.Member} as it rejoins at {Simulation.Now}")) return Task.CompletedTask;
        surface.Drawn.Draw(GroupNames.RejoinLost);
        var life = place.Member.Host;
        bool paused = _random.Chance(0.3);
        Simulation.After(TimeSpan.FromMilliseconds(_random.Next(0, _random.Chance(0.5) ? 3 : 400)), () => Lose(place, life, paused));
        return _random.Next(8) switch
        {
            0 => Task.CompletedTask,
            < 5 => ThrowAsync(place, life, token),
            < 7 => StayAsync(place),
            _ => WaitAsync(place, life, token),
        };
    }

    private void Lose(GroupPlace place, SimNode life, bool paused)
    {
        if (!life.Alive || place.Member.Host != life || !place.IsActive) return;
        if (paused)
        {
            var time = TimeSpan.FromMilliseconds(_random.Next(5_500, 7_000));
            place.Stall(time);
            life.Pause(time);
            return;
        }
        Throw(place, life);
    }

    private void Throw(GroupPlace place, SimNode life)
    {
        place.AwaitsRejoin = true;
        life.FaultInTurn((TurnPlace)_random.Next(3), new DrawnFaultException());
    }

    // None of these is spawned: the simulation resumes the awaits of spawned code, and if such code completed what the library awaits, the library would go on in a pool.

    /// <summary>
    /// Waits until its token says that the life is over, as a careful program does; the token must say so in time. False when the node is over: then the token says so in real
    /// time, which does not pass here.
    /// </summary>
    private async Task<bool> WaitAsync(GroupPlace place, SimNode life, CancellationToken token)
    {
        surface.Drawn.Draw(GroupNames.RejoinWaits);
        var node = place.Member.Node;
        TimeSpan? gone = null;
        while (!surface.IsOver && !place.IsEnding && !node.Completion.IsCompleted && !place.HasCrashed(life))
        {
            if (token.IsCancellationRequested) return true;
            await Simulation.Delay(s_look).ConfigureAwait(false);
            if (!life.Alive) gone ??= Simulation.Now;
            if (Simulation.Now - gone > s_slack) surface.Fail($"{place.Member} lost a life, and what it does for that life is not told so.");
        }
        return false;
    }

    private async Task ThrowAsync(GroupPlace place, SimNode life, CancellationToken token)
    {
        if (!await WaitAsync(place, life, token).ConfigureAwait(false)) return;
        surface.Drawn.Draw(GroupNames.RejoinThrows);
        throw new FormatException("A call that throws when its life is over.");
    }

    /// <summary>It does not look at its token, and goes on in the next life.</summary>
    private async Task StayAsync(GroupPlace place)
    {
        surface.Drawn.Draw(GroupNames.RejoinStays);
        for (var end = Simulation.Now + s_stays; Simulation.Now < end && !surface.IsOver;)
        {
            await Simulation.Delay(TimeSpan.FromMilliseconds(100)).ConfigureAwait(false);
            if (_random.Chance(0.1) && !surface.IsOver) surface.JoinFirst(place);
        }
    }
}
