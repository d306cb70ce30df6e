using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Transport;
using Oracle.Client;
using Oracle.Frames;

namespace Oracle.Tests;

/// <summary>A stranger at a seed's address, or one that claims to be there, can delay the founding of a system, but not prevent it.</summary>
public sealed class FalseSeedTests
{
    /// <summary>The stranger listens at the first seed's address, asks and answers like a process that knows no Oracle, and never founds.</summary>
    [Fact]
    public void A_stranger_at_the_address_of_the_first_seed_delays_founding_and_the_second_founds_before_the_third()
    {
        using var cluster = new OracleCluster(3, 3, seeds: 3);
        var stranger = cluster[0].Node;
        _ = new Asker(stranger, [cluster[1].Node.Address, cluster[2].Node.Address]);
        cluster[1].StartAt(TimeSpan.Zero);
        cluster[2].StartAt(TimeSpan.Zero);
        cluster.Run(20);
        Assert.Equal(MembershipState.Starting, cluster[1].Oracle.State);
        Assert.True(cluster.RunUntil(() => cluster[1].Oracle.State == MembershipState.Active && cluster[2].Oracle.State == MembershipState.Active, 40), cluster.Describe());
        Assert.Equal(cluster[1].Oracle.System, cluster[2].Oracle.System);
    }

    /// <summary>
    /// A program that starts a process gives up after a while and starts it again, and the new life forgets the time already waited. So each life must found within three
    /// quarters of the time that it has to start, in the order of the seeds.
    /// </summary>
    [Theory]
    [InlineData(2), InlineData(3), InlineData(5)]
    public void A_life_that_is_given_15_s_to_start_waits_for_a_stranger_no_longer_than_most_of_them(int seeds)
    {
        using var cluster = new OracleCluster(3, seeds, seeds: seeds, options: new() { StartTimeout = TimeSpan.FromSeconds(15) });
        _ = new Asker(cluster[0].Node, [.. Enumerable.Range(1, seeds - 1).Select(place => cluster[place].Node.Address)]);
        for (int place = 1; place < seeds; place++) cluster[place].StartAt(TimeSpan.Zero);
        cluster.Run(5);
        Assert.Equal(MembershipState.Starting, cluster[1].Oracle.State);
        var others = cluster.Lives.Skip(1).ToList();
        Assert.True(cluster.RunUntil(() => others.TrueForAll(process => process.Oracle.State == MembershipState.Active), 8), cluster.Describe());
        Assert.Single(others.Select(process => process.Oracle.System).Distinct());
        Assert.NotNull(cluster[1].Oracle.Replica);
    }

    /// <summary>Even the last seed must found in time when all seeds before it are false.</summary>
    [Fact]
    public void The_last_of_five_seeds_founds_in_time_when_all_before_it_are_false()
    {
        using var cluster = new OracleCluster(4, 5, seeds: 5, options: new() { StartTimeout = TimeSpan.FromSeconds(15) });
        for (int place = 0; place < 4; place++) _ = new Asker(cluster[place].Node, [cluster[4].Node.Address]);
        cluster[4].StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster[4].Oracle.State == MembershipState.Active, 13), cluster.Describe());
    }

    /// <summary>The stranger belongs to no system, and the process did not ask it for one.</summary>
    [Fact]
    public void A_process_that_is_no_seed_takes_its_system_from_nodes_that_it_asks_and_not_from_a_node_that_dials_it()
    {
        using var cluster = new OracleCluster(5, 2);
        var stranger = cluster.Simulation.AddNode("stranger");
        var says = new FrameSender(stranger.Node) { System = new(7, 8) };
        var self = new Oracle.Replica(stranger.Id, stranger.Address);
        cluster[1].StartAt(TimeSpan.Zero);
        for (int i = 0; i < 100; i++)
        {
            stranger.Post(() => says.Reply(stranger.Node.Links.Open(cluster[1].Node.Address), new OracleIs(new([self], []), self)));
            cluster.Run(0.1);
            Assert.NotEqual(says.System, cluster[1].Oracle.System);
            if (i == 30) cluster[0].StartAt(TimeSpan.Zero);
        }
        Assert.Equal((MembershipState.Active, MembershipState.Active), (cluster[0].Oracle.State, cluster[1].Oracle.State));
        Assert.Equal(cluster[0].Oracle.System, cluster[1].Oracle.System);
    }

    /// <summary>A stranger dials in and says that it listens at the seed's address, where nobody listens.</summary>
    [Fact]
    public void A_stranger_that_only_claims_the_address_of_a_seed_is_waited_for_once()
    {
        var bus = new LogBus();
        var links = new SeedLinks();
        var node = new LogBus.Part(bus, 2, links);
        var bootstrap = BootstrapOf(node, SeedLinks.Seed, links.Local);
        bootstrap.Start();
        long waited = 0;
        while (!bootstrap.Step())
        {
            bus.Pass(200 * Durations.Millisecond);
            waited += 200;
            Assert.True(waited < 20_000, "It waits for ever.");
            bootstrap.OnFault(SeedLinks.Dialled, LinkFault.Refused);
            bootstrap.Asked(SeedLinks.Guest, announces: false);
            Assert.False(bootstrap.Asks(SeedLinks.Guest));
        }
        Assert.InRange(waited, 5_000, 6_000);
    }

    [Fact]
    public void A_claim_to_an_address_at_which_another_node_was_reached_is_not_waited_for()
    {
        var bus = new LogBus();
        var links = new SeedLinks { Reached = 77 };
        var node = new LogBus.Part(bus, 2, links);
        var bootstrap = BootstrapOf(node, SeedLinks.Seed, links.Local);
        bootstrap.Start();
        long waited = 0;
        for (; !bootstrap.Step(); waited += 200)
        {
            bus.Pass(200 * Durations.Millisecond);
            bootstrap.Asked(SeedLinks.Guest, announces: false);
        }
        Assert.InRange(waited, 2_000, 3_000);
        // The link that was dialled leads to the seed.
        Assert.True(bootstrap.Asks(SeedLinks.Dialled));
    }

    /// <summary>Each process is among the other's seeds under another address than it gives itself, as behind a proxy. One of the two must go on.</summary>
    [Theory]
    [InlineData("127.0.0.1:9001", "127.0.0.1:9002")]
    [InlineData("127.0.0.1:6001", "127.0.0.1:6002")]
    public void One_of_two_processes_that_announce_gives_way_however_each_spells_the_others_address(string first, string second)
    {
        var bus = new LogBus();
        Bootstrap[] both = [Make(2, second, 3), Make(3, first, 2)];
        foreach (var one in both)
        {
            Assert.False(one.Step());
            one.Asked(SeedLinks.Dialled, announces: false);
            Assert.False(one.Step());
            Assert.True(one.Announces);
        }
        foreach (var one in both)
        {
            one.Answered(SeedLinks.Dialled, announces: true);
            Assert.False(one.Step());
        }
        Assert.Single(both, one => one.Announces);

        Bootstrap Make(ulong id, string other, ulong reached)
        {
            var links = new SeedLinks { Reached = reached, Local = new($"127.0.0.1:700{id}"), There = new(other) };
            var node = new LogBus.Part(bus, id, links);
            var bootstrap = BootstrapOf(node, links.Local, links.There);
            bootstrap.Start();
            return bootstrap;
        }
    }

    /// <summary>
    /// The process yields for 6 s to others that announce themselves in turn and never found. Then it announces that it is about to found, as another process does that really
    /// means it. Only one of the two may found.
    /// </summary>
    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    public void A_process_that_has_yielded_for_long_enough_does_not_found_beside_one_that_announces_as_well(ulong other)
    {
        var bus = new LogBus();
        var links = new SeedLinks { Reached = other };
        var node = new LogBus.Part(bus, 2, links);
        var bootstrap = BootstrapOf(node, links.Local, SeedLinks.Seed);
        bootstrap.Start();
        bool founds = false;
        for (long passed = 0; passed < 5_900; passed += 100)
        {
            links.Reached = 1 + ((ulong)passed % 2_000 / 1_000 * 2);
            bootstrap.Asked(SeedLinks.Dialled, announces: true);
            bootstrap.Answered(SeedLinks.Dialled, announces: true);
            founds |= bootstrap.Step();
            bus.Pass(100 * Durations.Millisecond);
        }
        Assert.False(founds);
        links.Reached = other;
        long waited = 0;
        for (; !bootstrap.Step(); waited += 100)
        {
            bootstrap.Asked(SeedLinks.Dialled, announces: true);
            bootstrap.Answered(SeedLinks.Dialled, announces: true);
            bus.Pass(100 * Durations.Millisecond);
        }
        // A process with a lower number founds a second after it has announced.
        Assert.InRange(waited, other == 1 ? 2_000 : 900, 2_500);
    }

    /// <summary>The strangers come in turn from anywhere, and no two announcements have the same number.</summary>
    [Fact]
    public void Strangers_that_announce_in_turn_do_not_keep_a_seed_from_founding()
    {
        var bus = new LogBus();
        var links = new SeedLinks { Reached = 5 };
        var node = new LogBus.Part(bus, 400, links);
        var bootstrap = BootstrapOf(node, links.Local, SeedLinks.Seed);
        bootstrap.Start();
        long waited = 0;
        for (; !bootstrap.Step(); waited += 100)
        {
            Assert.True(waited < 20_000, "It waits for ever.");
            bootstrap.Answered(SeedLinks.Dialled, announces: false);
            links.Strange = (ulong)(waited / 100) + 10;
            bootstrap.Asked(SeedLinks.Guest, announces: true);
            bus.Pass(100 * Durations.Millisecond);
        }
        Assert.InRange(waited, 6_000, 10_000);
    }

    private static Bootstrap BootstrapOf(INode node, params NodeAddress[] seeds)
    {
        var options = new OracleOptions { Seeds = seeds };
        return new(node, options, new(node, options), new FrameSender(node));
    }

    private sealed class SeedLinks : ILinks
    {
        public const int Dialled = 0, Guest = 1;

        public static NodeAddress Seed { get; } = new("127.0.0.1:7001");

        /// <summary>The node that answers at the seed's address.</summary>
        public ulong Reached { get; set; }

        /// <summary>The node that dialled in.</summary>
        public ulong Strange { get; set; } = 99;

        public NodeAddress Local { get; init; } = new("127.0.0.1:7002");

        /// <summary>The address under which the seed is known here.</summary>
        public NodeAddress There { get; init; } = Seed;

        public bool IsFull => false;

        public TimeSpan TimeToRoom => default;

        public int Open(NodeAddress address, ulong nodeId = 0) => Dialled;

        public void Close(int peer)
        {
        }

        public void Probe(int peer)
        {
        }

        public ulong NodeIdOf(int peer) => peer == Guest ? Strange : Reached;

        public NodeAddress AddressOf(int peer) => There;

        public long Backlog(int peer) => 0;

        public long Room(int peer) => 1;

        public Span<byte> Reserve(int size) => new byte[size];

        public Span<byte> Reserved(int size) => throw new NotSupportedException();

        public void Send(int peer, int length)
        {
        }

        public void Send(ReadOnlySpan<int> peers, int length)
        {
        }
    }
}
