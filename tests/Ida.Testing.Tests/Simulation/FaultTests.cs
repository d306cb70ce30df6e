namespace Ida.Testing.Tests;

public sealed class FaultTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void A_schedule_is_the_same_for_a_seed_and_reads_back_from_its_text()
    {
        var plan = new FaultPlan { Nodes = 5, MaxFaults = 30, MaxDown = 2, StaysDown = 0.3 };
        for (ulong seed = 1; seed <= 50; seed++)
        {
            string text = FaultSchedule.Random(seed, plan).ToString();
            Assert.Equal(text, FaultSchedule.Random(seed, plan).ToString());
            Assert.Equal(text, FaultSchedule.Parse(text).ToString());
        }
        Assert.NotEqual(FaultSchedule.Random(1, plan).ToString(), FaultSchedule.Random(2, plan).ToString());
        Assert.Empty(FaultSchedule.Parse("none").Faults);
    }

    [Fact]
    public void No_more_nodes_are_down_at_a_time_than_allowed()
    {
        for (ulong seed = 1; seed <= 200; seed++)
        {
            var plan = new FaultPlan { Nodes = 5, MaxFaults = 40, MaxDown = 2, StaysDown = 0.1, Kinds = [FaultKind.Crash, FaultKind.Vanish] };
            using var simulation = new Simulation(seed);
            for (int i = 0; i < 5; i++) simulation.AddNode();
            FaultSchedule.Random(seed, plan).Inject(simulation, _ => { });
            int down = 0;
            simulation.AddInvariant("at most two down", () =>
            {
                int dead = simulation.Hosts.Count(h => !h.Node!.Alive);
                down = Math.Max(down, dead);
                return dead > 2 ? $"{dead} are down" : null;
            });
            simulation.Run(10 * Second);
        }
    }

    [Theory]
    [InlineData("crash 1")]
    [InlineData("5ms crash")]
    [InlineData("5ms crash 1>2 for 3ms")]
    [InlineData("5ms cut 1 for 3ms")]
    [InlineData("5ms cut 1>x for 3ms")]
    [InlineData("5ms burn 1 for 3ms")]
    [InlineData("5ms slow 1>2 xx for 3ms")]
    [InlineData("5ms pause 1 for ever")]
    [InlineData("5 pause 1 for 3ms")]
    public void Text_that_is_no_fault_is_refused(string text) =>
        Assert.Contains(text, Assert.Throws<FormatException>(() => FaultSchedule.Parse(text)).Message, StringComparison.Ordinal);

    [Fact]
    public void Faults_undo_themselves()
    {
        using var simulation = new Simulation(1);
        for (int i = 0; i < 3; i++) simulation.AddNode();
        var (a, b, c) = (simulation.Nodes[0], simulation.Nodes[1], simulation.Nodes[2]);
        double drift = a.ClockDrift;
        FaultSchedule.Parse("10ms cut 0>1 for 10ms; 10ms busy 2 x7 for 10ms; 10ms drift 0 x1.005 for 10ms; 30ms partition 0,1 for 10ms; 50ms crash 2 for 10ms; 50ms vanish 1 for good")
            .Inject(simulation, _ => { });
        simulation.Run(TimeSpan.FromMilliseconds(15));
        Assert.Equal((false, true, 7.0), (simulation.Network.IsOpen(a, b), simulation.Network.IsOpen(b, a), c.SlowFactor));
        Assert.Equal(0.005, a.ClockDrift, 6);
        simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.Equal((true, 1.0, drift), (simulation.Network.IsOpen(a, b), c.SlowFactor, a.ClockDrift));
        simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.Equal((true, false, false), (simulation.Network.IsOpen(a, b), simulation.Network.IsOpen(a, c), simulation.Network.IsOpen(c, b)));
        simulation.Run(TimeSpan.FromMilliseconds(20));
        Assert.True(simulation.Network.IsOpen(c, b));
        Assert.False(c.Alive);
        simulation.Run(Second);
        Assert.Equal(4, simulation.Nodes.Count);
        Assert.True(simulation.Nodes[3].Alive);
        Assert.False(b.Alive);
    }

    /// <summary>The end of one fault does not shorten another, and after the last one everything is as before.</summary>
    [Fact]
    public void Faults_that_overlap_last_each_until_its_own_end()
    {
        using var simulation = new Simulation(1);
        for (int i = 0; i < 3; i++) simulation.AddNode();
        var (a, b, c) = (simulation.Nodes[0], simulation.Nodes[1], simulation.Nodes[2]);
        double drift = a.ClockDrift;
        FaultSchedule.Parse("10ms partition 0 for 50ms; 20ms cut 0>1 for 10ms; 20ms drop 2>0 for 10ms; 10ms busy 2 x7 for 50ms; 20ms busy 2 x9 for 10ms; 10ms drift 0 x1.005 for 20ms; 20ms drift 0 x0.995 for 40ms; 10ms slow 1>2 x5 for 50ms; 20ms slow 1>2 x50 for 10ms")
            .Inject(simulation);
        simulation.Run(TimeSpan.FromMilliseconds(25));
        Assert.Equal((false, false, 9.0, (CutMode?)CutMode.Drop), (simulation.Network.IsOpen(a, b), simulation.Network.IsOpen(c, a), c.SlowFactor, simulation.Network.CutBetween(c.Host, a.Host)));
        Assert.Equal(-0.005, a.ClockDrift, 6);
        simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.Equal((false, false, 7.0, (CutMode?)CutMode.Hold), (simulation.Network.IsOpen(a, b), simulation.Network.IsOpen(c, a), c.SlowFactor, simulation.Network.CutBetween(c.Host, a.Host)));
        Assert.Equal(-0.005, a.ClockDrift, 6);
        simulation.Run(TimeSpan.FromMilliseconds(40));
        Assert.Equal((true, true, 1.0, drift), (simulation.Network.IsOpen(a, b), simulation.Network.IsOpen(c, a), c.SlowFactor, a.ClockDrift));
    }

    [Fact]
    public void What_was_healed_is_not_cut_again_when_one_of_two_faults_ends()
    {
        using var simulation = new Simulation(1);
        for (int i = 0; i < 2; i++) simulation.AddNode();
        FaultSchedule.Parse("10ms cut 0>1 for 50ms; 20ms cut 0>1 for 20ms").Inject(simulation);
        simulation.Run(TimeSpan.FromMilliseconds(30));
        simulation.Network.Heal();
        simulation.Run(TimeSpan.FromMilliseconds(15));
        Assert.True(simulation.Network.IsOpen(simulation.Nodes[0], simulation.Nodes[1]));
    }

    [Fact]
    public void A_listener_to_faults_is_told_of_those_that_happen()
    {
        using var simulation = new Simulation(1);
        for (int i = 0; i < 2; i++) simulation.AddNode();
        List<string> told = [];
        FaultSchedule.Parse("10ms crash 0 for 5ms; 20ms crash 0 for 5ms; 30ms pause 0 for 5ms; 30ms pause 1 for 5ms").Inject(simulation, null, fault => told.Add($"{fault.Kind} {fault.Node}"));
        simulation.Run(TimeSpan.FromMilliseconds(50));
        Assert.Equal(["Crash 0", "Pause 1"], told);
    }

    [Fact]
    public void The_shrinker_finds_the_one_fault_that_matters()
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            var noise = FaultSchedule.Random(seed, new() { Nodes = 4, MaxFaults = 40 });
            var planted = new Fault(2 * Second, FaultKind.Pause, 3, Second);
            var shrunk = FaultShrinker.Shrink(new([.. noise.Faults, planted]), s => s.Faults.Any(f => f.Kind == FaultKind.Pause && f.Node == 3 && f.For > TimeSpan.FromMilliseconds(100)));
            var fault = Assert.Single(shrunk.Faults);
            Assert.Equal((FaultKind.Pause, 3), (fault.Kind, fault.Node));
            Assert.InRange(fault.For.TotalMilliseconds, 100, 200);
            Assert.True(fault.At < TimeSpan.FromMilliseconds(1));
        }
    }

    [Fact]
    public void The_shrinker_keeps_a_pair_that_fails_only_together_and_stops_at_its_limit()
    {
        var schedule = new FaultSchedule(Enumerable.Range(0, 64).Select(i => new Fault(TimeSpan.FromMilliseconds(i), FaultKind.Pause, i, Second)));
        int runs = 0;
        bool Fails(FaultSchedule s)
        {
            runs++;
            return s.Faults.Any(f => f.Node == 7) && s.Faults.Any(f => f.Node == 50);
        }
        Assert.Equal([7, 50], FaultShrinker.Shrink(schedule, Fails).Faults.Select(f => f.Node).Order());
        runs = 0;
        FaultShrinker.Shrink(schedule, Fails, maxRuns: 25);
        Assert.Equal(25, runs);
    }
}
