using GroupCore.Membership;
using Ida.Testing;
using Oracle.Leading;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>
/// The leader weighs reports of slow members in each turn in which one comes. The handlers of all members may wait for the same thing; if weighing then took as long as a
/// heartbeat, no leader would last.
/// </summary>
public sealed class SlowMembersCostTests
{
    private const int Processes = 60;
    private const int Groups = 300;
    private const int Members = 40;

    [Theory]
    [InlineData(Processes)]
    [InlineData(3)]
    public void The_cost_of_weighing_slow_members_goes_by_the_reports_and_not_by_the_members_of_all_groups(int slow)
    {
        var simulation = new Simulation(new SimulationOptions { Seed = 1, ReplayCommand = "none" });
        var host = simulation.AddNode("leader");
        var state = Founded();
        var ids = state.Processes.Select(static process => process.Id).ToList();
        var detector = new CutDetector(host.Node, new MonitoringRing(), new());
        List<Exclusion> decided = [];
        long before = 0;
        for (int second = 0; second <= 7; second++)
        {
            host.Post(() =>
            {
                foreach (var subject in ids.Take(slow))
                    foreach (var observer in ids)
                        if (observer != subject) detector.Suspect(subject, observer, Suspicion.Slow, 0);
                before = detector.Looked;
                decided = detector.Decide(state, Processes, default, static _ => true);
            });
            simulation.Run(TimeSpan.FromSeconds(1));
        }
        // By then the reports are 6 s old. If they are about all members, there is no witness.
        Assert.Equal(slow == Processes ? 0 : slow, decided.Count);
        Assert.InRange(detector.Looked - before, slow, slow * Processes * 3);
    }

    private static OracleState Founded()
    {
        var state = new OracleState(new Events(), OracleRules.All);
        ulong index = 0;
        for (int i = 0; i < Processes; i++)
            Apply(new(default, 0, 0, new Register((ulong)i + 1, new($"10.1.0.{i + 1}:7700"), "", "host", 0, 0, 1_000_000_000)));
        var ids = state.Processes.Select(static process => process.Id).ToList();
        var options = new GroupOptions { SlowMember = SlowMember.Evict };
        for (int group = 0; group < Groups; group++)
        {
            var who = Enumerable.Range(0, Members).Select(i => ids[((group * 7) + i) % Processes]).ToList();
            Apply(new(who[0], (ulong)group + 1, (ulong)group + 1, new Create($"group {group}", options, 0, who)));
        }
        Assert.Equal(Groups, state.Groups.Count);
        return state;

        void Apply(Request request) => state.Apply(++index, OperationCodec.WriteEntry([request]));
    }

    private sealed class Events : IStateEvents
    {
        public void OnAnswered(Request request, OperationResult result) => Assert.True(result.Ok, result.Reason);

        public void OnIgnored(Request request) => Assert.Fail("Each request is new.");

        public void OnRegistered(ProcessRecord process)
        {
        }

        public void OnExcluded(ProcessRecord process)
        {
        }

        public void OnProposed(GroupRecord group)
        {
        }

        public void OnInstalled(GroupRecord group, IReadOnlyList<ViewMember> goers)
        {
        }

        public void OnOver(GroupRecord group, string reason, IReadOnlyList<ProcessId> concerned)
        {
        }

        public void OnRestored()
        {
        }
    }
}
