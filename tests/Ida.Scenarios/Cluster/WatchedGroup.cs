using GroupCore.Groups;
using GroupCore.Membership;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>Six whole nodes with one group. Every event of it goes to the virtual-synchrony checker, whose verdict is looked at after every step of the simulation.</summary>
internal sealed class WatchedGroup
{
    private const int Nodes = 6, Calls = 400;

    // A view change after the faults takes two looks at which members are silent, and 10 s more for a pair that does not get on.
    private static readonly TimeSpan s_recovery = TimeSpan.FromSeconds(30), s_afterRest = TimeSpan.FromSeconds(5);
    private readonly ScenarioRun _run;
    private readonly SimCluster _cluster;
    private readonly VirtualSynchronyChecker _checker;
    private readonly List<WatchedMember> _members = [];
    private readonly CallLedger _calls;
    private ulong _message;

    public WatchedGroup(ScenarioRun run)
    {
        (_run, _cluster) = (run, new(ThreadNames.Start(run)));
        _checker = new(new() { StatesAgree = true, HandlersLag = ThreadNames.Lag(Simulation.Options) });
        _calls = Simulation.KeepCalls(CallLedger.Longest);
        Simulation.AddInvariant("virtual synchrony", () => _checker.Passed ? null : _checker.ToString());
    }

    private Simulation Simulation => _cluster.Simulation;

    /// <summary>Five members, one that joins later, calls at random members all the while, faults; then rest, and the verdict.</summary>
    /// <param name="plan">What the faults are drawn from.</param>
    /// <param name="calm">For how long members go on calling after the last fault; null: they call for some seconds in all, whatever the faults.</param>
    public void Run(FaultPlan plan, TimeSpan? calm = null)
    {
        var faults = _run.Case.Faults(plan);
        var length = calm is { } more ? faults.End + more : TimeSpan.FromSeconds(4);
        Simulation.RunAsync(async () =>
        {
            for (int i = 0; i < Nodes; i++)
            {
                var member = new WatchedMember(_checker, _calls, await _cluster.StartAsync(_calls, null, _run.Without));
                _members.Add(member);
                if (i < Nodes - 1) await member.JoinAsync();
            }
            var stranger = _run.BeginStranger(() => _members.Find(one => one.Usable)?.Group.CurrentView);
            // Noted before the fault itself: a crash takes the open calls with it, and they must be seen to have met it.
            foreach (var fault in faults.Faults) Simulation.After(fault.At, () => _calls.Meet(CallTable.Of(fault.Kind)));
            faults.Inject(Simulation, null, fault =>
            {
                if (_run.Ingredients.Allows(LifeNames.Of(fault.For))) _run.Ingredients.Draw(LifeNames.Of(fault.For));
            });
            Simulation.After(TimeSpan.FromSeconds(1), () => _ = Simulation.Spawn(JoinLateAsync));
            await CallAsync(length / Calls);
            Simulation.Network.Heal();
            stranger?.Crash();
            // Faults that a heal does not undo end by themselves.
            await Simulation.Delay(s_recovery + (faults.End > length ? faults.End - length : TimeSpan.Zero));
            EndTheGone();
            var hung = _members.Where(static one => one.Usable).Select(one => (Member: one, Call: _calls.OpenOf(one.Member.Host))).ToList();
            await Leftovers.RestLongAsync(Simulation, settled: false);
            EndTheGone();
            // No member that goes on was cut off, or without a majority, for longer than that.
            if (hung.Find(static one => one.Member.Usable && one.Call is not null) is { Call: { } call }) throw new ScenarioFailedException($"{call} is open {s_recovery} after the faults, and its member goes on.");
            await CallAfterRestAsync();
            _checker.CheckFinal(atRest: _members.Exists(one => one.Usable));
            _checker.ThrowIfFailed();
            await Leftovers.JudgeAsync(_members.Where(static one => one.Usable).Select(static one => one.Member), _run);
            // Where too many have gone nobody decides any more, and calls may stay open.
            _calls.Finish(onlyOver: !_members.Exists(one => one.Usable));
            _run.Note(_calls);
        }, TimeSpan.FromMinutes(40));
        _run.Work = _checker.Deliveries;
    }

    private async Task JoinLateAsync()
    {
        var last = _members[^1];
        try
        {
            if (last.Member.Host.Alive) await last.JoinAsync();
        }
        catch (InvalidOperationException)
        {
            // Refused, or excluded while it joined: the faults may do that.
            last.End();
        }
        catch (JoinTimeoutException) when (last.Member.Node.State != MembershipState.Active || _members.TrueForAll(one => !one.Member.Host.Alive || one.Member.Node.State != MembershipState.Active))
        {
            // It has been cut off for longer than a join may wait, or nobody decides any more.
            last.End();
        }
    }

    /// <summary>What nobody has used for minutes must still work; not judged if a member goes meanwhile.</summary>
    private async Task CallAfterRestAsync()
    {
        var usable = _members.FindAll(static one => one.Usable);
        var calls = usable.SelectMany(one => new[] { Simulation.Spawn(() => one.SendAsync(++_message, ordered: false)), Simulation.Spawn(() => one.SendAsync(++_message, ordered: true)), Simulation.Spawn(one.FlushAsync) }).ToList();
        await Simulation.Delay(s_afterRest);
        EndTheGone();
        if (usable.TrueForAll(static one => one.Usable) && calls.Exists(static call => !call.IsCompleted)) throw new ScenarioFailedException($"{_calls.Open} calls of members that have rested for long are open after {s_afterRest}.");
    }

    private async Task CallAsync(TimeSpan pause)
    {
        for (int turn = 0; turn < Calls; turn++)
        {
            EndTheGone();
            var usable = _members.FindAll(one => one.Usable);
            if (usable.Count == 0) return;
            foreach (var one in usable) one.NoteSent();
            var caller = usable[Simulation.Random.Next(usable.Count)];
            _ = Simulation.Random.Next(10) == 0
                ? Simulation.Spawn(caller.FlushAsync)
                : Simulation.Spawn(() => caller.SendAsync(++_message, ordered: Simulation.Random.Next(2) == 0));
            await Simulation.Delay(pause);
        }
    }

    private void EndTheGone()
    {
        foreach (var gone in _members)
            if (!gone.Member.Host.Alive || gone.Member.Node.Completion.IsCompleted) gone.End();
    }
}
