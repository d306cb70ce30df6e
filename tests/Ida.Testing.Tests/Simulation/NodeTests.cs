using GroupCore.Runtime;
using GroupCore.Transport;

namespace Ida.Testing.Tests;

public sealed class NodeTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);

    [Theory, MemberData(nameof(LinkTests.Carriers), MemberType = typeof(LinkTests))]
    public void A_crash_loses_a_suffix_of_what_was_on_its_way_and_never_more_than_that(SimCarrier carrier)
    {
        var lost = new HashSet<uint>();
        for (ulong seed = 1; seed <= 60; seed++)
        {
            using var simulation = new Simulation(new SimulationOptions { Seed = seed, Carrier = carrier, Link = new() { MinLatency = 5 * Millisecond, MaxLatency = 10 * Millisecond } });
            var mesh = new Mesh(simulation, 2, Millisecond);
            simulation.Run(Second / 2);
            simulation.Nodes[0].Crash(hostAnswers: seed % 2 == 0);
            uint sent = mesh[0].SentTo(0);
            simulation.Run(Second);
            uint came = mesh[1].Received.Values.Single();
            Assert.True(came <= sent && sent - came < 40, $"{sent} sent, {came} came");
            lost.Add(sent - came);
        }
        Assert.True(lost.Count > 5, $"losses seen: {string.Join(' ', lost)}");
    }

    [Theory, MemberData(nameof(LinkTests.Carriers), MemberType = typeof(LinkTests))]
    public void A_node_whose_host_is_gone_is_silent(SimCarrier carrier)
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 2, Carrier = carrier });
        var mesh = new Mesh(simulation, 2, Millisecond);
        simulation.Run(Second);
        int before = mesh[0].Links.Count;
        simulation.Nodes[1].Crash(hostAnswers: false);
        simulation.Run(10 * Second);
        Assert.Equal(before, mesh[0].Links.Count);
        simulation.Network.Break(simulation.Nodes[0], simulation.Nodes[1]);
        simulation.Run(5 * Second);
        Assert.Equal((0, LinkFault.Unreachable), mesh[0].Links[^1]);
    }

    [Theory, MemberData(nameof(LinkTests.Carriers), MemberType = typeof(LinkTests))]
    public void A_crashed_node_resets_its_peers_and_is_refused_then(SimCarrier carrier)
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 12, Carrier = carrier });
        var mesh = new Mesh(simulation, 2, Millisecond);
        simulation.At(Second, () => simulation.Nodes[1].Crash());
        simulation.Run(2 * Second);
        var links = mesh[0].Links;
        int reset = links.IndexOf((0, LinkFault.Reset)), refused = links.IndexOf((0, LinkFault.Refused));
        Assert.True(reset >= 0 && refused > reset, string.Join(' ', links));
    }

    [Fact]
    public void A_dead_node_runs_nothing_and_abandons_what_was_posted()
    {
        using var simulation = new Simulation(3);
        var node = simulation.AddNode();
        var chatter = new Chatter(node);
        chatter.Start(Millisecond);
        simulation.Run(Second);
        int timers = chatter.TimerTimes.Count;
        bool ran = false;
        var command = new Command();
        node.Post(() => ran = true);
        Assert.True(node.Node.TryPost(command));
        node.Crash();
        Assert.IsType<NodeStoppedException>(command.Abandoned);
        Assert.False(node.Node.TryPost(new Command()));
        simulation.Run(Second);
        Assert.False(ran);
        Assert.Equal(timers, chatter.TimerTimes.Count);
        Assert.False(node.Alive);
    }

    [Fact]
    public void A_node_that_crashes_itself_ends_after_its_turn()
    {
        using var simulation = new Simulation(4);
        var node = simulation.AddNode();
        bool alive = false, later = false;
        node.Post(() =>
        {
            node.Crash();
            alive = node.Alive;
        });
        simulation.Run(Millisecond);
        node.Post(() => later = true);
        simulation.Run(Millisecond);
        Assert.Equal((true, false, false), (alive, node.Alive, later));
    }

    [Theory, MemberData(nameof(LinkTests.Carriers), MemberType = typeof(LinkTests))]
    public void A_paused_node_takes_no_turn_and_then_sees_its_clock_jump(SimCarrier carrier)
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 5, Carrier = carrier });
        var mesh = new Mesh(simulation, 2, Millisecond);
        simulation.Run(Second);
        long deliveries = mesh[0].Deliveries, now = mesh.Nodes[0].Node.Now;
        int timers = mesh[0].TimerTimes.Count;
        simulation.Nodes[0].Pause(Second);
        simulation.Run(Second - Millisecond);
        Assert.Equal((deliveries, now, timers), (mesh[0].Deliveries, mesh.Nodes[0].Node.Now, mesh[0].TimerTimes.Count));
        simulation.Run(100 * Millisecond);
        Assert.True(mesh[0].Deliveries > deliveries + 500);
        Assert.True(mesh[0].TimerTimes[timers] - mesh[0].TimerTimes[timers - 1] > 900_000_000);
        Assert.DoesNotContain(mesh[1].Links, e => e.Fault is not null and not LinkFault.Refused);
    }

    [Fact]
    public void Clocks_drift_by_at_most_one_percent_and_differ()
    {
        using var simulation = new Simulation(6);
        var nodes = Enumerable.Range(0, 20).Select(_ => simulation.AddNode()).ToList();
        simulation.Run(Millisecond);
        var start = nodes.ConvertAll(n => n.LocalTime);
        simulation.Run(100 * Second);
        var elapsed = nodes.Select((n, i) => (n.LocalTime - start[i]) / 1e9).ToList();
        Assert.All(elapsed, e => Assert.InRange(e, 98.99, 101.01));
        Assert.True(elapsed.Distinct().Count() > 15);
        Assert.True(start.Distinct().Count() > 15);
    }

    [Fact]
    public void Timers_follow_the_clock_of_the_node()
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 7, MaxClockDrift = 0, MaxWakeDelay = TimeSpan.Zero });
        var node = simulation.AddNode();
        var timer = new OneTimer(() => simulation.Now);
        node.ClockDrift = 0.25;
        node.Post(() => node.Node.SetTimer(node.Node.Now + 10_000_000_000, timer, 0));
        simulation.Run(20 * Second);
        Assert.InRange(timer.At.TotalSeconds, 8, 8.001);
        node.Post(() => node.Node.SetTimer(node.Node.Now + 10_000_000_000, timer, 0));
        simulation.Run(4 * Second);
        node.ClockDrift = -0.5;
        simulation.Run(20 * Second);
        Assert.InRange(timer.At.TotalSeconds, 34, 34.001);
    }

    [Fact]
    public void A_clock_that_is_set_takes_timers_with_it_and_no_node_sees_time_go_back()
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 7, MaxClockDrift = 0, MaxWakeDelay = TimeSpan.Zero });
        var node = simulation.AddNode();
        var timer = new OneTimer(() => simulation.Now);
        node.Post(() => node.Node.SetTimer(node.Node.Now + 10_000_000_000, timer, 0));
        simulation.Run(Second);
        node.StepClock(4 * Second);
        simulation.Run(9 * Second);
        Assert.InRange(timer.At.TotalSeconds, 6, 6.001);
        long seen = node.Node.Now;
        node.StepClock(-20 * Second);
        node.Post(() => node.Node.SetTimer(node.Node.Now + 1_000_000_000, timer, 0));
        simulation.Run(Second);
        Assert.True(node.Node.Now >= seen && node.Node.Clock() == node.Node.Now, "time went back");
        simulation.Run(30 * Second);
        Assert.InRange(timer.At.TotalSeconds, 26.9, 27.1);
    }

    [Fact]
    public void What_is_due_already_is_done_though_the_clock_was_set_back()
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 7, MaxClockDrift = 0, MaxWakeDelay = TimeSpan.Zero });
        var node = simulation.AddNode();
        var timer = new OneTimer(() => simulation.Now);
        simulation.Run(Second);
        node.Post(static () => { });
        simulation.Run(Millisecond);
        node.StepClock(-20 * Second);
        node.Post(() => node.Node.SetTimer(node.Node.Now, timer, 0));
        simulation.Run(Second);
        Assert.InRange(timer.At.TotalSeconds, 1, 1.01);
    }

    [Fact]
    public void Turns_of_a_slow_node_take_longer()
    {
        long ordinary = Deliveries(1), slow = Deliveries(10_000);
        Assert.True(ordinary > 3 * slow, $"{ordinary} handled, {slow} when slow");

        static long Deliveries(double factor)
        {
            using var simulation = new Simulation(8);
            var mesh = new Mesh(simulation, 2, Millisecond / 4);
            simulation.Run(Second / 10);
            mesh.Nodes[0].SlowFactor = factor;
            simulation.Run(Second / 2);
            return mesh[0].Deliveries;
        }
    }

    [Fact]
    public void Batches_have_all_sizes_up_to_the_limit()
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 9, MaxBatch = 8 });
        var mesh = new Mesh(simulation, 2, Second);
        mesh.Nodes[0].Post(() =>
        {
            for (int i = 0; i < 2000; i++) mesh[0].Send(0);
        });
        simulation.Run(Second);
        Assert.Equal(Enumerable.Range(1, 8), mesh[1].BatchSizes.Distinct().Order());
    }

    [Fact]
    public void A_new_life_has_another_id_and_the_same_address_and_an_old_one_cannot_restart()
    {
        using var simulation = new Simulation(10);
        var first = simulation.AddNode("x");
        var second = first.Restart();
        Assert.False(first.Alive);
        Assert.Equal((first.Address, "x.1", true), (second.Address, second.Name, second.Alive));
        Assert.NotEqual(first.Id, second.Id);
        Assert.Throws<InvalidOperationException>(first.Restart);
    }

    private sealed class Command : NodeCommand
    {
        public Exception? Abandoned { get; private set; }

        public override void Run()
        {
        }

        public override void Abandon(Exception reason) => Abandoned = reason;
    }

    private sealed class OneTimer(Func<TimeSpan> now) : ITimerTarget
    {
        public TimeSpan At { get; private set; }

        public void OnTimer(long token) => At = now();
    }

    /// <summary>A command that a test harness posts is no user's call, which would be refused. It waits for room.</summary>
    [Fact]
    public void What_is_posted_beyond_the_command_queue_runs_when_there_is_room()
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 1, ReplayCommand = "the test" });
        var node = simulation.AddNode();
        int ran = 0;
        for (int i = 0; i < 100_000; i++) node.Post(() => ran++);
        simulation.Run(TimeSpan.FromSeconds(1));
        Assert.Equal(100_000, ran);
    }
}
