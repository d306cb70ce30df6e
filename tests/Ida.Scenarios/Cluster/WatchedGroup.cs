using GroupCore.Groups;
using GroupCore.Membership;
using Ida.Testing;
using Ida.Testing.Calls;
using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>Six whole nodes with one group, every event of which goes to the virtual-synchrony checker, after every step of the simulation.</summary>
internal sealed class WatchedGroup
{
    private const int Nodes = 6, Calls = 400;
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
    public void Run(FaultPlan plan)
    {
        var faults = _run.Case.Faults(plan);
        Simulation.RunAsync(async () =>
        {
            for (int i = 0; i < Nodes; i++)
            {
                var member = new WatchedMember(_checker, _calls, await _cluster.StartAsync(_calls, null, _run.Without));
                _members.Add(member);
                if (i < Nodes - 1) await member.JoinAsync();
            }
            var stranger = _run.BeginStranger(() => _members.Find(one => one.Usable)?.Group.CurrentView);
            // Before the faults themselves: a crash takes the calls that it meets.
            foreach (var fault in faults.Faults) Simulation.After(fault.At, () => _calls.Meet(CallTable.Of(fault.Kind)));
            faults.Inject(Simulation);
            Simulation.After(TimeSpan.FromSeconds(1), () => _ = Simulation.Spawn(JoinLateAsync));
            await CallAsync();
            Simulation.Network.Heal();
            stranger?.Crash();
            await Leftovers.RestLongAsync(Simulation);
            EndTheGone();
            _checker.CheckFinal(atRest: _members.Exists(one => one.Usable));
            _checker.ThrowIfFailed();
            await Leftovers.JudgeAsync(_members.Where(static one => one.Usable).Select(static one => one.Member), _run);
            // Where too many have gone nobody decides any more, and calls wait for whoever comes.
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
        catch (JoinTimeoutException) when (_members.TrueForAll(one => !one.Member.Host.Alive || one.Member.Node.State != MembershipState.Active))
        {
            // Nobody decides any more.
            last.End();
        }
    }

    private async Task CallAsync()
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
            await Simulation.Delay(TimeSpan.FromMilliseconds(10));
        }
    }

    private void EndTheGone()
    {
        foreach (var gone in _members)
            if (!gone.Member.Host.Alive || gone.Member.Node.Completion.IsCompleted) gone.End();
    }
}
