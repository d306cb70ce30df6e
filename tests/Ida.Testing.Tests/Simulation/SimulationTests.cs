using GroupCore.Runtime;

namespace Ida.Testing.Tests;

public sealed class SimulationTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);

    private static (ulong Hash, long Steps) Chat(ulong seed, LinkModel link)
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = seed, Link = link });
        var mesh = new Mesh(simulation, 5, 2 * Millisecond);
        FaultSchedule.Random(seed, new() { Nodes = 5, Within = Second, MaxFaults = 12 }).Inject(simulation, Chatter.Attach);
        simulation.Run(2 * Second);
        Assert.True(mesh.Deliveries > 100);
        return (simulation.TraceHash, simulation.Steps);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(0.03)]
    public void Two_runs_of_a_seed_take_the_same_steps_whatever_goes_wrong(double loss)
    {
        var link = new LinkModel { Loss = loss, Duplication = loss, Reordering = loss };
        var hashes = new HashSet<ulong>();
        for (ulong seed = 1; seed <= 15; seed++)
        {
            var once = Chat(seed, link);
            Assert.Equal(once, Chat(seed, link));
            hashes.Add(once.Hash);
        }
        Assert.Equal(15, hashes.Count);
    }

    [Fact]
    public void The_hash_sees_the_bytes_of_frames()
    {
        Assert.NotEqual(Hash(32), Hash(33));

        static ulong Hash(int payload)
        {
            using var simulation = new Simulation(1);
            _ = new Mesh(simulation, 2, Millisecond, payload);
            simulation.Run(Second / 10);
            return simulation.TraceHash;
        }
    }

    [Fact]
    public void Randomness_of_the_test_changes_no_other_choice()
    {
        Assert.Equal(Hash(draw: false), Hash(draw: true));

        static ulong Hash(bool draw)
        {
            using var simulation = new Simulation(1);
            _ = new Mesh(simulation, 3, Millisecond);
            if (draw) simulation.Random.NextUInt64();
            simulation.Run(Second / 10);
            return simulation.TraceHash;
        }
    }

    [Fact]
    public void Actions_run_at_their_times_in_order()
    {
        using var simulation = new Simulation(1);
        var ran = new List<(int, TimeSpan)>();
        simulation.At(2 * Second, () => ran.Add((2, simulation.Now)));
        simulation.At(Second, () => ran.Add((0, simulation.Now)));
        simulation.At(Second, () =>
        {
            ran.Add((1, simulation.Now));
            simulation.After(Second, () => ran.Add((3, simulation.Now)));
        });
        simulation.Run(3 * Second);
        Assert.Equal([(0, Second), (1, Second), (2, 2 * Second), (3, 2 * Second)], ran);
        Assert.Equal(3 * Second, simulation.Now);
    }

    [Fact]
    public void RunUntil_stops_after_the_step_that_makes_it_true_or_at_the_limit()
    {
        using var simulation = new Simulation(1);
        bool done = false;
        simulation.At(Second, () => done = true);
        Assert.False(simulation.RunUntil(() => done, Second / 2));
        Assert.Equal(Second / 2, simulation.Now);
        Assert.True(simulation.RunUntil(() => done, Second));
        Assert.Equal(Second, simulation.Now);
    }

    [Fact]
    public void A_violated_invariant_ends_the_run_with_seed_step_time_and_replay()
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 99, ReplayCommand = "replay me" });
        bool bad = false;
        simulation.AddInvariant("good", () => bad ? "it is bad" : null);
        simulation.At(Second, () => bad = true);
        var thrown = Assert.Throws<InvariantViolatedException>(() => simulation.Run(2 * Second));
        Assert.Equal((99UL, 1L, Second, "good", "it is bad"), (thrown.Seed, thrown.Step, thrown.Time, thrown.Invariant, thrown.Violation));
        Assert.Contains("Replay: replay me", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void What_a_protocol_throws_ends_the_run_and_names_the_node()
    {
        using var simulation = new Simulation(77);
        var node = simulation.AddNode("worker");
        node.Post(() => throw new DivideByZeroException("no"));
        var thrown = Assert.Throws<SimulationException>(() => simulation.Run(Second));
        Assert.IsType<DivideByZeroException>(thrown.InnerException);
        Assert.Contains("worker", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("Seed 77", thrown.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Options_that_make_no_sense_are_refused_by_name()
    {
        Refused(new() { MaxBatch = 0 }, "MaxBatch");
        Refused(new() { MaxClockDrift = 2 }, "MaxClockDrift");
        Refused(new() { Link = new() { Loss = 1 } }, "Link.Loss");
        Refused(new() { Link = new() { MinLatency = Second, MaxLatency = Millisecond } }, "Link.MaxLatency");

        static void Refused(SimulationOptions options, string name) =>
            Assert.Contains(name, Assert.Throws<ArgumentException>(() => new Simulation(options)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_thousand_nodes_run_in_one_process()
    {
        using var simulation = new Simulation(1);
        var chatters = Enumerable.Range(0, 1000).Select(_ => new Chatter(simulation.AddNode())).ToList();
        for (int i = 0; i < chatters.Count; i++)
        {
            for (int hop = 1; hop < 1000; hop *= 10) chatters[i].Open(simulation.Nodes[(i + hop) % 1000]);
            chatters[i].Start(20 * Millisecond);
        }
        simulation.Run(Second / 5);
        Assert.All(chatters, c => Assert.True(c.Deliveries > 0 && c.Broken is null, c.Broken ?? "nothing came"));
    }

    [Fact]
    public void Completions_run_after_the_turn_in_order()
    {
        using var simulation = new Simulation(1);
        var node = simulation.AddNode();
        var ran = new List<int>();
        node.Post(() =>
        {
            for (int i = 0; i < 3; i++) node.Node.Complete(new Completion(ran, i));
            ran.Add(-1);
        });
        simulation.Run(Second);
        Assert.Equal([-1, 0, 1, 2], ran);
    }

    private sealed class Completion(List<int> ran, int number) : ICompletion
    {
        public void Run() => ran.Add(number);
    }
}
