using GroupCore.Transport;

namespace Ida.Testing.Tests;

public sealed class LinkTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Millisecond = TimeSpan.FromMilliseconds(1);

    public static TheoryData<string> Models => ["stream", "datagrams", "narrow", "mesh", "narrow mesh", "rough mesh"];

    public static TheoryData<SimCarrier> Carriers => [SimCarrier.Memory, SimCarrier.Mesh];

    private static SimulationOptions Model(string name, ulong seed)
    {
        var (memory, mesh) = (new SimulationOptions { Seed = seed }, new SimulationOptions { Seed = seed, Carrier = SimCarrier.Mesh });
        var narrow = new LinkModel { BytesPerSecond = 100_000 };
        return name switch
        {
            "stream" => memory,
            "datagrams" => memory with { Link = new() { Loss = 0.05, Duplication = 0.05, Reordering = 0.1 } },
            "narrow" => memory with { Link = narrow },
            "mesh" => mesh,
            "narrow mesh" => mesh with { Link = narrow },
            _ => mesh with { Sockets = SocketModel.Rough },
        };
    }

    private static Simulation Start(SimCarrier carrier, ulong seed) => new(new SimulationOptions { Seed = seed, Carrier = carrier });

    private static NodeAddress Nobody(SimCarrier carrier) => Simulation.AddressOf(1, carrier);

    [Theory]
    [MemberData(nameof(Models))]
    public void Frames_arrive_exactly_once_and_in_order_under_all_link_faults(string model)
    {
        for (ulong seed = 1; seed <= 15; seed++)
        {
            using var simulation = new Simulation(Model(model, seed));
            var mesh = new Mesh(simulation, 4, 5 * Millisecond, byId: seed % 2 == 0 || model == "rough mesh");
            var faults = FaultSchedule.Random(seed, new()
            {
                Nodes = 4, Within = 2 * Second, MaxFaults = 20, MaxDuration = Second,
                Kinds = [FaultKind.Break, FaultKind.Break, FaultKind.Break, FaultKind.Cut, FaultKind.Drop, FaultKind.Partition, FaultKind.Pause, FaultKind.Slow, FaultKind.Busy, FaultKind.Drift],
            });
            faults.Inject(simulation);
            simulation.Run(faults.End > 2 * Second ? faults.End : 2 * Second);
            mesh.Silence();
            simulation.Run(20 * Second);
            // Nothing may be missing once the network is whole: everything that was sent has arrived.
            Assert.Equal("", mesh.Missing());
            Assert.True(mesh.Deliveries > 500, $"seed {seed}: {mesh.Deliveries} deliveries");
        }
    }

    [Fact]
    public void Datagrams_are_really_lost_doubled_and_overtaken()
    {
        using var simulation = new Simulation(Model("datagrams", 5));
        var mesh = new Mesh(simulation, 2, Millisecond);
        simulation.Run(5 * Second);
        var session = simulation.Nodes[0].Links.Ends[0].Session;
        Assert.True(session.Duplicates > 50, $"{session.Duplicates} duplicates");
        Assert.True(mesh.Deliveries > 5000, $"{mesh.Deliveries} deliveries");
    }

    [Theory]
    [InlineData(CutMode.Hold, SimCarrier.Memory)]
    [InlineData(CutMode.Drop, SimCarrier.Memory)]
    [InlineData(CutMode.Hold, SimCarrier.Mesh)]
    [InlineData(CutMode.Drop, SimCarrier.Mesh)]
    public void A_cut_stops_one_way_only_and_what_was_sent_arrives_after_it_heals(CutMode mode, SimCarrier carrier)
    {
        using var simulation = Start(carrier, 21);
        var mesh = new Mesh(simulation, 2, Millisecond);
        simulation.Run(Second);
        simulation.Network.Cut(mesh.Nodes[0], mesh.Nodes[1], mode);
        Assert.False(simulation.Network.IsOpen(mesh.Nodes[0], mesh.Nodes[1]));
        Assert.True(simulation.Network.IsOpen(mesh.Nodes[1], mesh.Nodes[0]));
        simulation.Run(20 * Millisecond);
        long there = mesh[1].Deliveries, back = mesh[0].Deliveries;
        simulation.Run(Second);
        Assert.Equal(there, mesh[1].Deliveries);
        Assert.True(mesh[0].Deliveries > back + 500, $"{mesh[0].Deliveries - back} came back");
        simulation.Network.Heal();
        Assert.True(simulation.RunUntil(() => mesh[1].Deliveries > there + 900, Second));
        Assert.Equal(mode == CutMode.Drop, mesh[1].Links.Contains((0, LinkFault.Reset)));
    }

    [Theory, MemberData(nameof(Carriers))]
    public void A_partition_separates_the_sides_and_heals(SimCarrier carrier)
    {
        using var simulation = Start(carrier, 22);
        var mesh = new Mesh(simulation, 5, Millisecond);
        simulation.Run(Second / 2);
        simulation.Network.Partition([mesh.Nodes[0], mesh.Nodes[1]], [mesh.Nodes[2]]);
        simulation.Run(50 * Millisecond);
        var before = mesh.ReceivedFrom();
        simulation.Run(Second / 2);
        var after = mesh.ReceivedFrom();
        foreach (var (pair, count) in after)
        {
            int side = Side(pair.From);
            Assert.Equal(side == Side(pair.To), count > before[pair]);
        }
        simulation.Network.Heal();
        mesh.Silence();
        simulation.Run(Second);
        Assert.Equal("", mesh.Missing());

        static int Side(int node) => node < 2 ? 0 : node == 2 ? 1 : 2;
    }

    [Theory, MemberData(nameof(Carriers))]
    public void A_slow_way_takes_longer_than_the_way_back(SimCarrier carrier)
    {
        using var simulation = new Simulation(new SimulationOptions { Seed = 23, Carrier = carrier, Link = new() { TailChance = 0 } });
        var mesh = new Mesh(simulation, 2, 100 * Millisecond);
        simulation.Run(Second);
        simulation.Network.Slow(mesh.Nodes[0], mesh.Nodes[1], 3000);
        simulation.Run(4 * Second);
        uint sent = mesh[0].SentTo(0), came = mesh[1].Received[0];
        Assert.True(sent - came >= 1, $"{sent} sent, {came} came");
        Assert.True(mesh[1].SentTo(0) - mesh[0].Received[0] <= 1);
        Assert.Null(mesh.Broken);
    }

    [Theory, MemberData(nameof(Carriers))]
    public void A_dial_of_nobody_is_refused_until_somebody_listens(SimCarrier carrier)
    {
        using var simulation = Start(carrier, 24);
        var first = new Chatter(simulation.AddNode());
        int peer = first.Open(Nobody(carrier));
        simulation.Run(Second);
        Assert.Contains((peer, LinkFault.Refused), first.Links);
        Assert.DoesNotContain((peer, null), first.Links);
        var second = new Chatter(simulation.AddNode());
        Assert.True(simulation.RunUntil(() => first.Links.Contains((peer, null)) && second.Links.Count > 0, 3 * Second));
        Assert.Equal(simulation.Nodes[1].Id, simulation.Nodes[0].Node.Links.NodeIdOf(peer));
        Assert.Equal(simulation.Nodes[0].Address, simulation.Nodes[1].Node.Links.AddressOf(0));
    }

    [Theory, MemberData(nameof(Carriers))]
    public void Another_life_at_the_address_replaces_the_one_that_was_meant(SimCarrier carrier)
    {
        using var simulation = Start(carrier, 25);
        var mesh = new Mesh(simulation, 2, Millisecond);
        simulation.Run(Second);
        var again = simulation.Nodes[1].Restart();
        var chatter = new Chatter(again);
        simulation.Run(Second);
        Assert.Equal((0, LinkFault.Replaced), mesh[0].Links[^1]);
        Assert.NotEqual(again.Id, simulation.Nodes[1].Id);
        int peer = mesh[0].Open(again);
        Assert.NotEqual(0, peer);
        simulation.Run(Second);
        Assert.Equal(again.Id, simulation.Nodes[0].Node.Links.NodeIdOf(peer));
        Assert.True(chatter.Deliveries > 500);
        Assert.Equal(0u, chatter.Received.Values.Max() - (uint)chatter.Deliveries);
    }

    [Theory, MemberData(nameof(Carriers))]
    public void A_link_that_one_end_closed_is_rejected_at_the_other(SimCarrier carrier)
    {
        using var simulation = Start(carrier, 26);
        var mesh = new Mesh(simulation, 2, Millisecond, byId: true);
        simulation.Run(Second);
        mesh.Silence(0);
        simulation.Nodes[0].Post(() => simulation.Nodes[0].Node.Links.Close(0));
        simulation.Run(Second);
        Assert.Equal([(0, LinkFault.Reset), (0, LinkFault.Rejected)], mesh[1].Links[^2..]);
        long frozen = mesh[0].Deliveries;
        simulation.Run(Second);
        Assert.Equal(frozen, mesh[0].Deliveries);
    }

    /// <summary>The acceptor's end is up before the dialler's. In between, only the acceptor has the connection.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_link_that_ends_before_its_dialler_hears_that_it_is_up_is_over_at_the_other_end_too(bool crash)
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var simulation = Start(SimCarrier.Memory, seed);
            var (first, second) = (new Chatter(simulation.AddNode()), new Chatter(simulation.AddNode()));
            int peer = first.Open(simulation.Nodes[1]);
            Assert.True(simulation.RunUntil(() => simulation.Nodes[1].Links.Ends is [{ Connected: true }], Second));
            Assert.False(simulation.Nodes[0].Links.Ends[peer].Connected);
            if (crash) simulation.Nodes[0].Crash();
            else simulation.Nodes[0].Node.Links.Close(peer);
            simulation.Run(Second);
            Assert.Equal([(0, null), (0, LinkFault.Reset)], second.Links);
            simulation.Run(60 * Second);
            Assert.Equal((0, LinkFault.Rejected), second.Links[^1]);
            Assert.Empty(simulation.Nodes[1].Kept.Links);
        }
    }

    /// <summary>When the link comes up at the dialler, the acceptor has already lost it, or can no longer be asked.</summary>
    [Theory]
    [InlineData("closes")]
    [InlineData("crashes")]
    [InlineData("vanishes")]
    [InlineData("cut")]
    public void A_dialler_hears_what_became_of_the_other_end_before_it_heard_that_the_link_is_up(string what)
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var simulation = Start(SimCarrier.Memory, seed);
            var (first, second) = (new Chatter(simulation.AddNode()), new Chatter(simulation.AddNode()));
            int peer = first.Open(simulation.Nodes[1]);
            Assert.True(simulation.RunUntil(() => simulation.Nodes[1].Links.Ends is [{ Connected: true }], Second));
            Assert.False(simulation.Nodes[0].Links.Ends[peer].Connected);
            if (what == "closes") simulation.Nodes[1].Node.Links.Close(0);
            else if (what == "cut") simulation.Network.Cut(simulation.Nodes[0], simulation.Nodes[1]);
            else simulation.Nodes[1].Crash(hostAnswers: what == "crashes");
            simulation.Run(Second);
            Assert.True(second.Links.Count <= 1);
            if (what is "closes" or "crashes")
            {
                Assert.Equal([(peer, null), (peer, LinkFault.Reset), (peer, what == "closes" ? LinkFault.Rejected : LinkFault.Refused)], first.Links.Take(3));
                continue;
            }
            Assert.Equal([(peer, null)], first.Links);
            Assert.True(simulation.RunUntil(() => first.Links[1..] is [(_, LinkFault.Reset), ..], 181 * Second));
        }
    }

    [Theory, MemberData(nameof(Carriers))]
    public void A_probe_tells_who_listens_without_touching_the_connection(SimCarrier carrier)
    {
        using var simulation = Start(carrier, 27);
        var mesh = new Mesh(simulation, 2, 10 * Millisecond, byId: true);
        simulation.Run(Second);
        int events = mesh[0].Links.Count, others = mesh[1].Links.Count;
        simulation.Nodes[0].Post(() => simulation.Nodes[0].Node.Links.Probe(0));
        simulation.Run(Second);
        Assert.Equal((0, null), Assert.Single(mesh[0].Links[events..]));
        Assert.Equal(others, mesh[1].Links.Count);
        simulation.Nodes[1].Crash(hostAnswers: false);
        simulation.Run(Second);
        Assert.Equal(events + 1, mesh[0].Links.Count);
        simulation.Nodes[0].Post(() => simulation.Nodes[0].Node.Links.Probe(0));
        simulation.Run(2 * Second);
        Assert.Equal((0, LinkFault.Unreachable), Assert.Single(mesh[0].Links[(events + 1)..]));
    }

    /// <summary>A machine that vanishes says nothing, and nothing is sent to it that it would have to answer. The kernel's keep-alive questions find out.</summary>
    [Theory, MemberData(nameof(Carriers))]
    public void A_link_that_nobody_holds_is_over_some_time_after_the_other_machine_vanished(SimCarrier carrier)
    {
        using var simulation = Start(carrier, 29);
        var (first, second) = (new Chatter(simulation.AddNode()), new Chatter(simulation.AddNode()));
        int peer = first.Open(simulation.Nodes[1]);
        simulation.Run(Second);
        Assert.Single(second.Links);
        simulation.Nodes[0].Post(() =>
        {
            simulation.Nodes[0].Node.Links.Hold(peer);
            simulation.Nodes[0].Node.Links.Release(peer);
        });
        simulation.Run(120 * Second);
        Assert.Single(simulation.Nodes[0].Kept.Links);
        simulation.Nodes[1].Crash(hostAnswers: false);
        simulation.Run(29 * Second);
        Assert.Equal((peer, null), first.Links[^1]);
        simulation.Run(230 * Second);
        Assert.Empty(simulation.Nodes[0].Kept.Links);
    }

    /// <summary>A frame that is sent just before the kernel's last question stops the questions, and has its own time to be acknowledged.</summary>
    [Theory, MemberData(nameof(Carriers))]
    public void A_kernel_finds_after_30_to_90_s_that_the_other_machine_has_vanished_and_now_and_then_after_180_s(SimCarrier carrier)
    {
        var late = new List<bool>();
        for (ulong seed = 1; seed <= 40; seed++)
        {
            using var simulation = Start(carrier, seed);
            var (first, second) = (new Chatter(simulation.AddNode()), new Chatter(simulation.AddNode()));
            int peer = first.Open(simulation.Nodes[1]);
            simulation.Run(Second);
            Assert.Single(second.Links);
            simulation.Nodes[1].Crash(hostAnswers: false);
            var vanished = simulation.Now;
            Assert.True(simulation.RunUntil(() => first.Links[^1] == (peer, LinkFault.Reset), 181 * Second));
            Assert.True(simulation.Now - vanished >= 30 * Second);
            late.Add(simulation.Now - vanished > 91 * Second);
        }
        Assert.InRange(late.Count(static one => one), 1, 20);
    }

    /// <summary>Each kernel finds out by itself that the other one does not answer. A short cut ends nothing.</summary>
    [Theory, MemberData(nameof(Carriers))]
    public void A_link_that_nobody_holds_is_over_at_both_ends_in_a_cut_that_lasts(SimCarrier carrier)
    {
        using var simulation = Start(carrier, 31);
        var (first, second) = (new Chatter(simulation.AddNode()), new Chatter(simulation.AddNode()));
        int peer = first.Open(simulation.Nodes[1]);
        simulation.Run(Second);
        Assert.Single(second.Links);
        simulation.Nodes[0].Post(() =>
        {
            simulation.Nodes[0].Node.Links.Hold(peer);
            simulation.Nodes[0].Node.Links.Release(peer);
        });
        simulation.Run(120 * Second);
        simulation.Network.Partition([simulation.Nodes[0]], [simulation.Nodes[1]]);
        simulation.Run(29 * Second);
        simulation.Network.Heal();
        simulation.Run(100 * Second);
        Assert.All(simulation.Nodes, static node => Assert.Single(node.Kept.Links));
        simulation.Network.Partition([simulation.Nodes[0]], [simulation.Nodes[1]]);
        simulation.Run(250 * Second);
        Assert.All(simulation.Nodes, static node => Assert.Empty(node.Kept.Links));
    }

    [Theory, MemberData(nameof(Carriers))]
    public void A_dial_into_a_cut_is_unreachable(SimCarrier carrier)
    {
        using var simulation = Start(carrier, 28);
        var first = new Chatter(simulation.AddNode());
        var second = new Chatter(simulation.AddNode());
        simulation.Network.Cut(simulation.Nodes[1], simulation.Nodes[0]);
        int peer = first.Open(simulation.Nodes[1]);
        simulation.Run(3 * Second);
        Assert.All(first.Links, e => Assert.Equal((peer, LinkFault.Unreachable), e));
        Assert.NotEmpty(first.Links);
        simulation.Network.Heal();
        simulation.Run(3 * Second);
        Assert.Equal((peer, null), first.Links[^1]);
        Assert.Single(second.Links);
    }

    [Theory, MemberData(nameof(Carriers))]
    public void A_queue_above_the_limit_ends_the_link(SimCarrier carrier)
    {
        using var simulation = Start(carrier, 29);
        var first = new Chatter(simulation.AddNode(), payload: 1 << 19);
        int peer = first.Open(Nobody(carrier));
        simulation.Nodes[0].Post(() =>
        {
            for (int i = 0; i < 140; i++) first.Send(peer);
        });
        simulation.Run(Second);
        Assert.Contains((peer, LinkFault.Overflow), first.Links);
    }
}
