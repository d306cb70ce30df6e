using GroupCore.Membership;
using GroupCore.Runtime;
using Ida.Testing;
using Oracle.Frames;

namespace Oracle.Tests;

/// <summary>Processes that find each other by multicast (oracle.md#processes-on-a-local-network-find-each-other).</summary>
public sealed class LanDiscoveryTests
{
    private const string Name = "c";

    [Fact]
    public void A_process_that_is_alone_on_its_network_decides_within_half_a_second()
    {
        using var world = new World(1, 1);
        world.Cluster.StartAll(TimeSpan.Zero);
        Assert.True(world.Cluster.RunUntil(() => world.Cluster[0].Oracle.State == MembershipState.Active, 0.501), world.Cluster.Describe());
        Assert.True(world.Cluster.Simulation.Now > TimeSpan.FromSeconds(0.4));
    }

    [Fact]
    public void Processes_that_start_together_decide_within_half_a_second_which_of_them_founds()
    {
        for (ulong seed = 1; seed <= 40; seed++)
        {
            using var world = new World(seed, 5);
            world.Cluster.StartAll(TimeSpan.FromMilliseconds(seed % 4 * 50));
            double last = seed % 4 * 0.05;
            Assert.True(world.Cluster.RunUntil(() => world.Cluster.Lives.Exists(static life => !life.Oracle.System.IsNone), last + 0.601), world.Cluster.Describe());
            Assert.True(world.Cluster.RunUntil(() => world.Cluster.Lives.TrueForAll(static life => life.Oracle.State == MembershipState.Active), 0.5), world.Cluster.Describe());
            Assert.True(world.Cluster.Lives.DistinctBy(static life => life.Oracle.System).Count() == 1, world.Cluster.Describe());
        }
    }

    [Fact]
    public void A_process_finds_the_system_that_is_there_at_once()
    {
        using var world = new World(1, 3);
        world.Cluster.StartAll(TimeSpan.Zero);
        world.Cluster.Run(3);
        var late = world.Cluster.AddProcess("late");
        late.StartAt(TimeSpan.Zero);
        Assert.True(world.Cluster.RunUntil(() => late.Oracle.State == MembershipState.Active, 0.2), world.Cluster.Describe());
        Assert.Equal(world.Cluster[0].Oracle.System, late.Oracle.System);
    }

    /// <summary>
    /// Somebody on the network shows processes at ever new addresses, earlier than all others, at which nobody is or whose hosts are silent, and says of some that they have found the system.
    /// It costs less than three seconds, shuts nobody out, and has few addresses dialled.
    /// </summary>
    [Theory]
    [InlineData(false), InlineData(true)]
    public void Processes_that_are_shown_and_do_not_exist_hold_nobody_up_for_long(bool system)
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var world = new World(seed, 303);
            // Of these the first 300 are hosts without a process that answer nothing.
            var silent = world.Cluster.Lives.Take(300).ToList();
            foreach (var one in silent) one.Node.Crash(hostAnswers: false);
            var living = world.Cluster.Lives.Skip(300).ToList();
            int said = 0, most = 0;
            Say();
            foreach (var one in living) one.StartAt(TimeSpan.FromMilliseconds(seed * 20));
            Assert.True(world.Cluster.RunUntil(() => living.TrueForAll(static life => life.Oracle.State == MembershipState.Active), 7), world.Cluster.Describe());
            Assert.True(living.DistinctBy(static life => life.Oracle.System).Count() == 1, world.Cluster.Describe());
            world.Cluster.Run(60);
            Assert.InRange(most, 1, 64 + 2 + (70 * 2) + 10);

            void Say()
            {
                var address = said % 5 == 4 ? $"1.{said / 250 % 250}.0.{1 + (said % 250)}:7700" : silent[said % 300].Node.Address.Text;
                world.Lan.Say(Name, (ulong)++said, address, asks: true, system ? new(1, 2) : default);
                most = Math.Max(most, living.Max(static life => life.Node.Links.Ends.Count(static end => !end.IsOver)));
                world.Cluster.Simulation.After(TimeSpan.FromMilliseconds(20), Say);
            }
        }
    }

    [Fact]
    public void Of_two_systems_of_one_process_each_that_meet_one_gives_way()
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            using var world = new World(seed, 2);
            world.Cluster.Simulation.Network.Partition([world.Cluster[0].Node], [world.Cluster[1].Node]);
            world.Cluster.StartAll(TimeSpan.Zero);
            world.Cluster.Run(3);
            Assert.True(world.Cluster.Lives.TrueForAll(static life => life.Oracle.State == MembershipState.Active) && world.Cluster[0].Oracle.System != world.Cluster[1].Oracle.System, world.Cluster.Describe());
            world.Cluster.Simulation.Network.Heal();
            Assert.True(world.Cluster.RunUntil(() => world.Cluster.Lives.Count(static life => life.Oracle.State == MembershipState.Excluded) == 1, 5), world.Cluster.Describe());
            world.Cluster.Run(5);
            Assert.Single(world.Cluster.Alive);
        }
    }

    [Fact]
    public void One_speaks_for_the_system_and_seldom_however_often_it_is_asked()
    {
        using var world = new World(1, 20);
        world.Cluster.StartAll(TimeSpan.Zero);
        world.Cluster.Run(5);
        long before = world.Lan.Sent;
        world.Cluster.Run(10);
        // The leader shows itself.
        Assert.InRange(world.Lan.Sent - before, 9, 11);
        before = world.Lan.Sent;
        world.Lan.Say(Name, 5, "10.9.9.9:7700", asks: true);
        world.Cluster.Run(0.3);
        // Three voters answer, and the other 17 have heard them.
        Assert.InRange(world.Lan.Sent - before - 1, 3, 5);
        before = world.Lan.Sent;
        for (int i = 0; i < 1_000; i++)
        {
            world.Lan.Say(Name, 5, "10.9.9.9:7700", asks: true);
            world.Cluster.Run(0.001);
        }
        Assert.InRange(world.Lan.Sent - before - 1_000, 50, 80);
    }

    [Fact]
    public void A_process_whose_life_is_over_and_one_of_another_cluster_say_nothing()
    {
        using var world = new World(1, 1);
        world.Cluster.StartAll(TimeSpan.Zero);
        world.Cluster.Run(2);
        var refused = world.Cluster[0].Node.Node.Counters.Refused(RefusalReason.Malformed);
        world.Lan.Send(null, new byte[LanNotice.MostBytes]);
        world.Lan.Send(null, new byte[LanNotice.MostBytes + 1]);
        world.Lan.Send(null, []);
        world.Cluster.Run(0.1);
        Assert.Equal(refused + 3, world.Cluster[0].Node.Node.Counters.Refused(RefusalReason.Malformed));
        long before = world.Lan.Sent;
        world.Lan.Say("other", 5, "10.9.9.9:7700", asks: true);
        world.Cluster.Run(0.2);
        Assert.InRange(world.Lan.Sent - before, 1, 2);
        world.Cluster[0].Node.Post(world.Cluster[0].Oracle.Depart);
        Assert.True(world.Cluster.RunUntil(() => world.Cluster[0].Oracle.State == MembershipState.Excluded, 5));
        before = world.Lan.Sent;
        world.Lan.Say(Name, 5, "10.9.9.9:7700", asks: true);
        world.Cluster.Run(3);
        Assert.Equal(before + 1, world.Lan.Sent);
    }

    /// <summary>The system that has worked for long keeps its state; the one that was founded beside it a moment ago has none to speak of.</summary>
    [Theory]
    [InlineData(false), InlineData(true)]
    public void Of_two_systems_of_one_process_each_the_young_one_gives_way_to_the_old_one(bool later)
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            using var world = new World(seed, 2);
            world.Cluster.Simulation.Network.Partition([world.Cluster[0].Node], [world.Cluster[1].Node]);
            world.Cluster[0].StartAt(TimeSpan.Zero);
            world.Cluster.Run(70);
            world.Cluster[1].StartAt(TimeSpan.Zero);
            world.Cluster.Run(later ? 70 : 3);
            world.Cluster.Simulation.Network.Heal();
            bool gone = world.Cluster.RunUntil(() => world.Cluster[1].Oracle.State == MembershipState.Excluded, 10);
            // Of two old ones neither gives way.
            Assert.True(gone == !later, world.Cluster.Describe());
            Assert.Equal(MembershipState.Active, world.Cluster[0].Oracle.State);
        }
    }

    [Fact]
    public void Notices_are_what_they_were_and_bytes_that_are_none_are_refused()
    {
        var notice = new LanNotice("c", true, new(7, new("[fd00::1]:7700")), new(1, 2));
        byte[] bytes = notice.ToBytes();
        Assert.True(LanNotice.TryRead(bytes, out var read));
        Assert.Equal(notice, read);
        for (int length = 0; length < bytes.Length; length++) Assert.False(LanNotice.TryRead(bytes.AsSpan(0, length), out _));
        Assert.True(new LanNotice(new('c', 255), true, new(ulong.MaxValue, new("[ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe]:65535")), new(ulong.MaxValue, ulong.MaxValue)).ToBytes().Length <= LanNotice.MostBytes);
        foreach (string none in (string[])["0.0.0.0:1", "10.0.0.1:0", "ida.test:7", "255.255.255.255:7", ""])
            Assert.False(LanNotice.TryRead(new LanNotice("c", true, new(7, new(none)), default).ToBytes(), out _));
        Assert.False(LanNotice.TryRead(new LanNotice("c", true, new(0, new("10.0.0.1:1")), default).ToBytes(), out _));
    }

    private sealed class World : IDisposable
    {
        public World(ulong seed, int processes)
        {
            var simulation = new Simulation(new SimulationOptions { Seed = seed, ReplayCommand = $"the test's seed {seed}" });
            Lan = new(simulation, new(seed));
            Cluster = new(simulation, processes, shape: (node, options) => options with { Seeds = [new(SeedText.Lan)], Cluster = Name, LocalNetwork = Lan.Of(node) }) { HasSystems = true };
        }

        public SimLan Lan { get; }

        public OracleCluster Cluster { get; }

        public void Dispose() => Cluster.Dispose();
    }
}
