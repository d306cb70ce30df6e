using GroupCore.Transport;

namespace Ida.Testing.Tests;

public sealed class SimulationTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private static List<Chatter> Mesh(Simulation simulation, int nodes, TimeSpan interval)
    {
        var chatters = new List<Chatter>();
        for (int i = 0; i < nodes; i++) chatters.Add(new(simulation.AddNode()));
        foreach (var node in simulation.Nodes)
        {
            foreach (var other in simulation.Nodes)
                if (other != node) chatters[simulation.Nodes.ToList().IndexOf(node)].Open(other);
        }
        foreach (var chatter in chatters) chatter.Start(interval);
        simulation.AddInvariant("exactly once, in order", () => chatters.Find(c => c.Broken is not null)?.Broken);
        return chatters;
    }

    [Fact]
    public void Frames_arrive_once_and_in_order()
    {
        using var simulation = new Simulation(7);
        var chatters = Mesh(simulation, 4, TimeSpan.FromMilliseconds(1));
        simulation.Run(Second);
        Assert.All(chatters, c => Assert.True(c.Deliveries > 2000, $"{c.Deliveries} deliveries"));
    }

    [Fact]
    public void Two_runs_of_a_seed_take_the_same_steps_and_another_seed_does_not()
    {
        Assert.Equal(Once(3), Once(3));
        Assert.NotEqual(Once(3), Once(4));

        static (ulong, long) Once(ulong seed)
        {
            using var simulation = new Simulation(seed);
            var chatters = Mesh(simulation, 5, TimeSpan.FromMilliseconds(2));
            simulation.Run(Second / 2);
            return (simulation.TraceHash, simulation.Steps);
        }
    }

    [Fact]
    public void Links_resume_after_a_reset_connection()
    {
        using var simulation = new Simulation(11);
        var chatters = Mesh(simulation, 2, TimeSpan.FromMilliseconds(1));
        for (int i = 1; i < 20; i++) simulation.At(i * Second / 20, () => simulation.Network.Break(simulation.Nodes[0], simulation.Nodes[1]));
        simulation.Run(2 * Second);
        Assert.All(chatters, c => Assert.Contains((0, LinkFault.Reset), c.Links));
        Assert.All(chatters, c => Assert.True(c.Deliveries > 1500, $"{c.Deliveries} deliveries"));
    }

    [Fact]
    public void A_crashed_node_resets_its_peers_and_is_refused()
    {
        using var simulation = new Simulation(12);
        var chatters = Mesh(simulation, 2, TimeSpan.FromMilliseconds(1));
        simulation.At(Second, () => simulation.Nodes[1].Crash());
        simulation.Run(2 * Second);
        var links = chatters[0].Links;
        int reset = links.IndexOf((0, LinkFault.Reset)), refused = links.IndexOf((0, LinkFault.Refused));
        Assert.True(reset >= 0 && refused > reset, string.Join(' ', links));
    }

    [Fact]
    public void Asynchronous_code_runs_in_virtual_time()
    {
        using var simulation = new Simulation(1);
        int result = simulation.RunAsync(
            async () =>
            {
                await simulation.Delay(Second);
                return (int)simulation.Now.TotalSeconds;
            },
            2 * Second);
        Assert.Equal(1, result);
    }

    [Fact]
    public void A_violated_invariant_ends_the_run_with_seed_and_replay()
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 99, ReplayCommand = "replay me" });
        bool bad = false;
        simulation.AddInvariant("good", () => bad ? "it is bad" : null);
        simulation.At(Second, () => bad = true);
        var thrown = Assert.Throws<InvariantViolatedException>(() => simulation.Run(2 * Second));
        Assert.Equal((99UL, Second, "good"), (thrown.Seed, thrown.Time, thrown.Invariant));
        Assert.Contains("replay me", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("it is bad", thrown.Message, StringComparison.Ordinal);
    }
}
