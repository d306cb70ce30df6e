using System.Net;
using GroupCore.Membership;
using GroupCore.Transport;
using GroupCore.Runtime;
using Oracle.Client;
using Oracle.Frames;

namespace Oracle.Tests;

/// <summary>Seeds that are given by name (oracle.md#names-are-asked-for-again).</summary>
public sealed class SeedNameTests
{
    private const string Name = "ida.test";

    /// <summary>As with containers: the one process that the name stands for dies and starts at another address, to which the name leads from then on.</summary>
    [Theory]
    [InlineData(0), InlineData(50), InlineData(300), InlineData(700), InlineData(1_200), InlineData(2_500), InlineData(12_000)]
    public void The_only_seed_joins_the_system_of_the_others_from_another_address(int after)
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            var names = Names(seed, slowest: 1 + (int)(seed * 12));
            using var cluster = Cluster(seed, 3, names);
            names.Set(Name, cluster[0].Node.Address);
            cluster.StartAll(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 10), cluster.Describe());
            cluster.Run(2);
            var system = cluster[0].Oracle.System;
            cluster[0].Node.Crash(hostAnswers: seed % 2 == 0);
            cluster.Run(after / 1000.0);
            var moved = cluster.AddProcess("moved");
            names.Set(Name, moved.Node.Address);
            moved.StartAt(TimeSpan.Zero);
            Assert.True(cluster.RunUntil(() => moved.Oracle.State == MembershipState.Active, 12), cluster.Describe());
            Assert.True(system == moved.Oracle.System, cluster.Describe());
            AssertNoSplit(cluster);
        }
    }

    [Fact]
    public void A_name_that_stands_for_no_address_yet_is_asked_for_until_it_does_and_nobody_founds_meanwhile()
    {
        var names = Names(1);
        using var cluster = Cluster(1, 2, names);
        cluster.StartAll(TimeSpan.Zero);
        cluster.Run(20);
        Assert.All(cluster.Lives, static life => Assert.Equal(MembershipState.Starting, life.Oracle.State));
        Assert.Contains(cluster[0].Groups.Events, static text => text.Contains($"no address is known for {Name} (no such name)", StringComparison.Ordinal));
        names.Set(Name, cluster[1].Node.Address);
        Assert.True(cluster.RunUntil(() => cluster.Lives.TrueForAll(static life => life.Oracle.State == MembershipState.Active), 6), cluster.Describe());
        Assert.Equal(cluster[0].Oracle.System, cluster[1].Oracle.System);
    }

    [Fact]
    public void What_was_found_stays_while_the_server_of_names_is_silent()
    {
        var names = Names(1);
        using var cluster = Cluster(1, 3, names);
        names.Set(Name, cluster[0].Node.Address);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Lives.TrueForAll(static life => life.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        names.Set(Name);
        cluster.Simulation.Network.Partition([cluster[2].Node], [cluster[0].Node, cluster[1].Node]);
        cluster.Run(20);
        Assert.NotEqual(MembershipState.Active, cluster[2].Oracle.State);
        cluster.Simulation.Network.Heal();
        // Its old life is over: it is told so by the seed, whose address it still knows.
        Assert.True(cluster.RunUntil(() => cluster[2].Oracle.State == MembershipState.Excluded, 3), cluster.Describe());
    }

    [Fact]
    public void A_name_may_stand_for_several_addresses_some_of_which_are_told_each_time_and_one_system_comes_of_it()
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            var names = Names(seed);
            names.Most = 4;
            using var cluster = Cluster(seed, 6, names);
            names.Set(Name, cluster.Lives.Select(static life => life.Node.Address));
            cluster.StartAll(TimeSpan.FromMilliseconds(500));
            Assert.True(cluster.RunUntil(() => cluster.Lives.TrueForAll(static life => life.Oracle.State == MembershipState.Active), 30), cluster.Describe());
            Assert.True(cluster.Lives.DistinctBy(static life => life.Oracle.System).Count() == 1, cluster.Describe());
            AssertNoSplit(cluster);
        }
    }

    /// <summary>Each answer names an address that none named before, where a host is silent, and earlier than the process. It founds all the same.</summary>
    [Fact]
    public void A_name_that_stands_for_ever_new_silent_addresses_does_not_keep_a_seed_from_founding()
    {
        var names = Names(1);
        using var cluster = Cluster(1, 41, names);
        foreach (var silent in cluster.Lives.Take(40)) silent.Node.Crash(hostAnswers: false);
        int turn = 0;
        Turn();
        cluster[40].StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster[40].Oracle.State == MembershipState.Active, 9), cluster.Describe());

        void Turn()
        {
            names.Set(Name, cluster.Lives[turn++ % 40].Node.Address, cluster.Lives[40].Node.Address);
            cluster.Simulation.After(TimeSpan.FromMilliseconds(500), Turn);
        }
    }

    /// <summary>Behind one address a balancer leads to one of several processes, now and then to the one that asks.</summary>
    [Fact]
    public void A_name_that_leads_to_the_process_itself_at_an_address_that_is_not_its_own_makes_it_no_seed()
    {
        var bus = new LogBus();
        var node = new LogBus.Part(bus, 2, new TellingLinks());
        var options = new OracleOptions { Seeds = [new($"{Name}:7700")], Names = new Balancer() };
        var list = new SeedList(node, options);
        int told = 0;
        var bootstrap = new Bootstrap(node, options, list, new FrameSender(node)) { OnShared = _ => told++ };
        bootstrap.Start();
        for (int i = 0; i < 300; i++)
        {
            Assert.False(bootstrap.Step());
            bus.Pass(200 * Durations.Millisecond);
            bootstrap.OnFault(0, LinkFault.Itself);
        }
        Assert.False(bootstrap.IsSeed);
        Assert.Equal(1, told);
        // A given address is another matter: it leads here only.
        options = options with { Seeds = [new("10.0.0.99:7700")] };
        bootstrap = new(node, options, new(node, options), new FrameSender(node)) { OnShared = _ => told++ };
        bootstrap.Start();
        Assert.False(bootstrap.Step());
        bootstrap.OnFault(0, LinkFault.Itself);
        Assert.True(bootstrap.IsSeed);
        Assert.Equal(1, told);
    }

    [Theory]
    [InlineData("127.0.1.1", true)]
    [InlineData("::1", true)]
    [InlineData("10.0.0.7", false)]
    public void A_name_that_stands_for_the_loopback_stands_for_this_machine(string address, bool own)
    {
        var names = Names(1);
        using var cluster = Cluster(1, 1, names);
        var node = cluster[0].Node;
        var list = new SeedList(node.Node, new() { Seeds = [new($"{Name}:7700")], Names = names });
        names.SetRaw(Name, IPAddress.Parse(address));
        node.Post(() => list.Step(0));
        cluster.Run(0.5);
        Assert.Equal(own ? node.Address.Text : $"{address}:7700", Assert.Single(list.Addresses).Text);
    }

    [Fact]
    public void An_answer_that_names_only_what_nobody_can_dial_is_none_and_takes_nothing_away()
    {
        var names = Names(1);
        using var cluster = Cluster(1, 1, names);
        var node = cluster[0].Node;
        var list = new SeedList(node.Node, new() { Seeds = [new($"{Name}:7700")], Names = names });
        names.Set(Name, new NodeAddress("10.0.0.7:7700"));
        node.Post(() => list.Step(0));
        cluster.Run(0.5);
        names.SetRaw(Name, IPAddress.Any);
        cluster.Run(40);
        node.Post(() => list.Step(0));
        cluster.Run(0.5);
        Assert.Equal("10.0.0.7:7700", Assert.Single(list.Addresses).Text);
        list = new SeedList(node.Node, new() { Seeds = [new($"{Name}:7700")], Names = names });
        node.Post(() => list.Step(0));
        cluster.Run(0.5);
        Assert.Contains("nobody can dial 0.0.0.0", list.Unknown, StringComparison.Ordinal);
    }

    /// <summary>A process of another cluster at all addresses found so far is no reason to give up while a name stands for none.</summary>
    [Fact]
    public void A_process_is_not_stranded_while_a_name_stands_for_no_address()
    {
        var names = Names(1);
        using var cluster = Cluster(1, 1, names);
        cluster.StartAll(TimeSpan.Zero);
        cluster.Run(5);
        Assert.False(cluster[0].Oracle.Stranded);
    }

    [Fact]
    public void Addresses_are_kept_for_half_a_minute_and_no_more_than_64_of_a_name()
    {
        var names = Names(1);
        using var cluster = Cluster(1, 1, names);
        var node = cluster[0].Node;
        var list = new SeedList(node.Node, new() { Seeds = [new($"{Name}:7700"), new("10.0.0.200:7700")], Names = names });
        Assert.False(list.IsComplete);
        Assert.Equal("10.0.0.200:7700", Assert.Single(list.Addresses).Text);
        names.Set(Name, Enumerable.Range(1, 200).Reverse().Select(static i => new NodeAddress($"10.1.0.{i}:7700")));
        Look();
        Assert.Equal([.. Enumerable.Range(1, 64).Select(static i => $"10.1.0.{i}:7700"), "10.0.0.200:7700"], list.Addresses.Select(static one => one.Text));
        names.Set(Name, new NodeAddress("10.1.0.9:7700"));
        cluster.Run(20);
        Look();
        Assert.Equal(65, list.Addresses.Count);
        cluster.Run(11);
        Look();
        Assert.Equal(["10.1.0.9:7700", "10.0.0.200:7700"], list.Addresses.Select(static one => one.Text));
        // Nobody can dial these, or they mean another place to each machine.
        names.SetRaw(Name, IPAddress.Any, IPAddress.Parse("224.0.0.1"), IPAddress.Parse("255.255.255.255"), IPAddress.Parse("fe80::1"), IPAddress.Parse("ff02::1"), IPAddress.Parse("fd00::1"), IPAddress.Parse("::ffff:10.1.0.8"));
        cluster.Run(31);
        Look();
        Assert.Equal(["10.1.0.8:7700", "[fd00::1]:7700", "10.0.0.200:7700"], list.Addresses.Select(static one => one.Text));

        void Look()
        {
            node.Post(() => list.Step(0));
            cluster.Run(0.5);
        }
    }

    [Fact]
    public void A_name_is_looked_up_once_at_a_time_and_every_second_only_while_a_seed_is_sought()
    {
        var names = Names(1, slowest: 1);
        using var cluster = Cluster(1, 3, names);
        names.Set(Name, cluster[0].Node.Address);
        cluster.StartAll(TimeSpan.Zero);
        cluster.Run(10);
        int before = names.Asked;
        cluster.Run(60);
        // Three voters, every five seconds.
        Assert.InRange(names.Asked - before, 30, 40);
        names.Slowest = TimeSpan.FromHours(1);
        before = names.Asked;
        cluster.Run(60);
        Assert.InRange(names.Asked - before, 0, 3);
    }

    [Theory]
    [InlineData("multicast", true)]
    [InlineData("ida.test:7700", true)]
    [InlineData("IDA.Test.:7700", true)]
    [InlineData("3f2a9c:7700", true)]
    [InlineData("my_service:7700", true)]
    [InlineData("10.0.0.1:7700", true)]
    [InlineData("[fd00::1]:7700", true)]
    [InlineData("localhost:7700", true)]
    [InlineData("", false)]
    [InlineData("ida.test", false)]
    [InlineData("ida.test:0", false)]
    [InlineData("ida.test:99999", false)]
    [InlineData("ida test:7700", false)]
    [InlineData("http://ida.test:7700", false)]
    [InlineData("10.0.0.300:7700", false)]
    [InlineData("10.0.0.1:0", false)]
    [InlineData("0.0.0.0:7700", false)]
    [InlineData("[::]:7700", false)]
    [InlineData("fd00::1:7700", false)]
    [InlineData("[fe80::1]:7700", false)]
    [InlineData("239.1.2.3:7700", false)]
    public void What_a_seed_may_be(string text, bool allowed)
    {
        var options = new OracleOptions { Seeds = [new(text)] };
        if (allowed)
        {
            options.Validate();
            return;
        }
        var error = Assert.Throws<InvalidOptionException>(options.Validate);
        Assert.Contains($"'{text}'", error.Message, StringComparison.Ordinal);
        Assert.Contains("give host:port with a name or an IP address", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_name_is_no_longer_than_names_may_be()
    {
        string longest = string.Join('.', Enumerable.Repeat(new string('a', 49), 5)) + ".abc";
        Assert.True(HostAndPort.TryParse($"{longest}:1", out var place) && place.Host == longest && place.Port == 1);
        Assert.False(HostAndPort.TryParse($"{longest}a.abc:1", out _));
    }

    private sealed class Balancer : INameService
    {
        public void Resolve(INode node, string host, Action<IReadOnlyList<IPAddress>, string> found) => found([IPAddress.Parse("10.0.0.99")], "");
    }

    private static SimNames Names(ulong seed, int slowest = 5) => new(new(seed)) { Slowest = TimeSpan.FromMilliseconds(slowest) };

    private static OracleCluster Cluster(ulong seed, int processes, SimNames names) =>
        new(seed, processes, shape: (_, options) => options with { Seeds = [new($"{Name}:7700")], Names = names });

    private static void AssertNoSplit(OracleCluster cluster) =>
        Assert.DoesNotContain(cluster.Lives, life => life.Groups.Events.Any(text => text.Contains("SplitFoundation", StringComparison.Ordinal)));
}
