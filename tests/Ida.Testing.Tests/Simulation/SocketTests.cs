using GroupCore.Transport;

namespace Ida.Testing.Tests;

/// <summary>The TCP mesh of production over simulated sockets: which faults the sockets cause, and that they really occur.</summary>
public sealed class SocketTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);

    private static Simulation Start(ulong seed, SocketModel? sockets = null) => new(new SimulationOptions { Seed = seed, Carrier = SimCarrier.Mesh, Sockets = sockets ?? new() });

    private static SimSocketPort PortOf(SimNode node) => ((MeshCarrier)node.Carrier).Port;

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public void Two_runs_of_a_seed_take_the_same_steps_whatever_goes_wrong(int rough)
    {
        var hashes = new HashSet<ulong>();
        for (ulong seed = 1; seed <= 15; seed++)
        {
            var once = Chat(seed);
            Assert.Equal(once, Chat(seed));
            hashes.Add(once.Hash);
        }
        Assert.Equal(15, hashes.Count);

        (ulong Hash, long Steps) Chat(ulong seed)
        {
            using var simulation = Start(seed, rough == 1 ? SocketModel.Rough : null);
            var mesh = new Mesh(simulation, 5, 2 * Millisecond, byId: seed % 2 == 0);
            FaultSchedule.Random(seed, new() { Nodes = 5, Within = Second, MaxFaults = 12 }).Inject(simulation, Chatter.Attach);
            simulation.Run(2 * Second);
            Assert.True(mesh.Deliveries > 100);
            return (simulation.TraceHash, simulation.Steps);
        }
    }

    [Theory]
    [InlineData(20)]
    [InlineData(3_000)]
    [InlineData(150_000)]
    public void A_stream_stays_whole_though_reads_and_writes_are_short(int payload)
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var simulation = Start(seed, new() { ShortRead = 0.5, ShortWrite = 0.5, SmallBuffers = 0.5, LeastBuffer = 512 });
            var mesh = new Mesh(simulation, 3, payload > 100_000 ? 100 * Millisecond : 5 * Millisecond, payload);
            simulation.Run(Second);
            mesh.Silence();
            for (int waited = 0; mesh.Missing().Length > 0 && waited < 120; waited++) simulation.Run(Second);
            Assert.Equal("", mesh.Missing());
            Assert.True(mesh.Deliveries > 30, $"seed {seed}: {mesh.Deliveries} deliveries");
            Assert.True(simulation.Tally[SocketDeed.ShortRead] > 10 && simulation.Tally[SocketDeed.ShortWrite] > 10);
            if (payload > 100_000) Assert.True(simulation.Tally[SocketDeed.Full] > 0);
        }
    }

    [Fact]
    public void Dials_that_cross_end_with_one_connection()
    {
        int crossed = 0;
        for (ulong seed = 1; seed <= 40; seed++)
        {
            using var simulation = Start(seed);
            var mesh = new Mesh(simulation, 2, Millisecond, byId: seed % 2 == 0);
            if (!simulation.RunUntil(() => mesh[0].Deliveries > 0 && mesh[1].Deliveries > 0, Second)) Assert.Fail($"seed {seed}: nothing came");
            simulation.Run(Second);
            if (simulation.Tally[SocketDeed.CrossingDial] > 0) crossed++;
            Assert.Equal((1, 1), (PortOf(mesh.Nodes[0]).Open, PortOf(mesh.Nodes[1]).Open));
            Assert.DoesNotContain(mesh[0].Links.Concat(mesh[1].Links), news => news.Fault is not null);
        }
        Assert.True(crossed > 20, $"{crossed} crossed");
    }

    [Fact]
    public void A_socket_that_nobody_reads_fills_up_and_what_waits_comes_when_it_is_read()
    {
        using var simulation = Start(7);
        var mesh = new Mesh(simulation, 2, Millisecond, payload: 25_000, byId: true);
        simulation.Run(Second / 10);
        simulation.Nodes[1].Pause(Second);
        simulation.Run(Second / 2);
        var links = simulation.Nodes[0].Node.Links;
        Assert.True(links.Backlog(0) > LinkLimits.MostBulkBytes, $"{links.Backlog(0)} bytes wait");
        Assert.True(links.Room(0) <= 0);
        Assert.True(simulation.Tally[SocketDeed.Full] > 0);
        mesh.Silence();
        simulation.Run(5 * Second);
        Assert.Equal("", mesh.Missing());
        Assert.Equal(0, links.Backlog(0));
        Assert.DoesNotContain(mesh[0].Links, news => news.Fault is not null);
    }

    [Theory]
    [InlineData(40)]
    [InlineData(10_000)]
    public void After_a_reset_amid_the_stream_each_frame_comes_once_and_in_order(int payload)
    {
        long lost = 0, resets = 0;
        for (ulong seed = 1; seed <= 20; seed++)
        {
            using var simulation = Start(seed, SocketModel.Rough with { LeastBuffer = 512 });
            var mesh = new Mesh(simulation, 2, Millisecond, payload);
            for (int i = 1; i <= 20; i++) simulation.After(i * 37 * Millisecond, () => simulation.Network.Break(mesh.Nodes[0], mesh.Nodes[1]));
            simulation.Run(Second);
            mesh.Silence();
            // The smallest buffers carry some 200 KB/s.
            for (int waited = 0; mesh.Missing().Length > 0 && waited < 120; waited++) simulation.Run(Second);
            Assert.Equal("", mesh.Missing());
            (lost, resets) = (lost + simulation.Tally[SocketDeed.LostBytes], resets + mesh[0].Links.Count(news => news.Fault == LinkFault.Reset));
        }
        Assert.True(lost > 100 && resets > 100, $"{lost} resets lost bytes, {resets} were told");
    }

    [Fact]
    public void The_kernel_of_a_paused_node_takes_connections_that_nobody_answers()
    {
        using var simulation = Start(3);
        var first = new Chatter(simulation.AddNode());
        var second = new Chatter(simulation.AddNode());
        simulation.Run(Millisecond);
        simulation.Nodes[1].Pause(3 * Second);
        int peer = first.Open(simulation.Nodes[1]);
        simulation.Run(2 * Second);
        Assert.Equal([(peer, LinkFault.Unreachable)], first.Links.Distinct());
        simulation.Run(3 * Second);
        Assert.Equal((peer, null), first.Links[^1]);
        Assert.Single(second.Links);
        Assert.True(simulation.Tally[SocketDeed.DialledPaused] > 0);
    }

    [Fact]
    public void A_host_that_is_there_again_resets_what_it_does_not_know()
    {
        using var simulation = Start(4);
        var mesh = new Mesh(simulation, 2, 10 * Millisecond, byId: true);
        simulation.Run(Second);
        simulation.Nodes[1].Crash(hostAnswers: false);
        simulation.Run(5 * Second);
        int before = mesh[0].Links.Count;
        Chatter.Attach(simulation.Nodes[1].Restart());
        simulation.Run(3 * Second);
        Assert.Equal([(0, LinkFault.Reset), (0, LinkFault.Replaced)], mesh[0].Links[before..]);
    }

    /// <summary>Everything that the node sent has left it before it vanishes. So the other end believes it alive until the kernel has asked in vain.</summary>
    [Fact]
    public void A_node_that_vanishes_before_the_other_end_has_its_connection_does_not_leave_it_for_good()
    {
        int gone = 0;
        for (ulong seed = 1; seed <= 40; seed++)
        {
            using var simulation = new Simulation(new SimulationOptions
            {
                Seed = seed, Carrier = SimCarrier.Mesh, Link = new() { MinLatency = Millisecond, MaxLatency = Millisecond, TailChance = 0 },
            });
            var (first, second) = (new Chatter(simulation.AddNode()), new Chatter(simulation.AddNode()));
            simulation.Run(Second);
            first.Open(simulation.Nodes[1], simulation.Nodes[1].Id);
            simulation.Run((2 * Millisecond) + TimeSpan.FromMicroseconds(40 * seed));
            bool known = PortOf(simulation.Nodes[1]).HasNews || PortOf(simulation.Nodes[1]).Open > 0;
            simulation.Nodes[0].Carrier.Die(hostAnswers: false, atFrame: true);
            simulation.Nodes[0].Crash(hostAnswers: false);
            simulation.Run(Second);
            if (!known && second.Links.Count > 0) gone++;
            simulation.Run(300 * Second);
            Assert.Empty(simulation.Nodes[1].Kept.Links);
            Assert.Equal(0, simulation.Nodes[1].Kept.Sockets);
        }
        Assert.True(gone > 3, $"{gone} came up though their dialler was gone");
    }

    [Fact]
    public void A_node_without_a_descriptor_or_memory_for_a_connection_takes_it_later()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var simulation = Start(seed, new() { AcceptFails = 0.4, DialThrows = 0.4, HalfDial = 0.3 });
            // Opened by id: a peer that merely dialled in gives way when no descriptor is left.
            var mesh = new Mesh(simulation, 4, 10 * Millisecond, byId: true);
            simulation.Run(20 * Second);
            mesh.Silence();
            simulation.Run(5 * Second);
            Assert.Equal("", mesh.Missing());
            Assert.True(simulation.Tally[SocketDeed.AcceptFailed] > 0 && simulation.Tally[SocketDeed.DialThrew] > 0 && simulation.Tally[SocketDeed.HalfDial] > 0);
        }
    }

    [Fact]
    public void A_node_has_no_more_sockets_than_descriptors()
    {
        using var simulation = Start(5, new() { Descriptors = 4 });
        var mesh = new Mesh(simulation, 8, 10 * Millisecond);
        simulation.AddInvariant("descriptors", () => mesh.Nodes.Find(node => PortOf(node).Open > 3)?.Name);
        simulation.Run(10 * Second);
        Assert.True(simulation.Tally[SocketDeed.AcceptFailed] > 0 && simulation.Tally[SocketDeed.DialThrew] > 0);
        Assert.True(mesh.Deliveries > 100, $"{mesh.Deliveries} deliveries");
    }

    [Fact]
    public void Options_that_make_no_sense_over_the_mesh_are_refused()
    {
        Assert.Throws<ArgumentException>(() => new Simulation(new SimulationOptions { Carrier = SimCarrier.Mesh, Link = new() { Loss = 0.1 } }));
        Assert.Throws<ArgumentException>(() => new Simulation(new SimulationOptions { Carrier = (SimCarrier)7 }));
        Assert.Throws<ArgumentException>(() => Start(1, new() { ShortRead = 1.5 }));
        Assert.Throws<ArgumentException>(() => Start(1, new() { Descriptors = 1 }));
        Assert.Throws<ArgumentException>(() => Start(1, new() { LeastBuffer = 0 }));
    }
}
