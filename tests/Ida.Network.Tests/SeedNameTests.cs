using System.Globalization;
using FiveMachines.Machines;
using Ida.Network.Tests.Hosts;

namespace Ida.Network.Tests;

/// <summary>Clusters that are found by a name, which the machines know by their hosts files, or by multicast on the network.</summary>
[Collection(HostNetworkCollection.Name)]
public sealed class SeedNameTests(HostNetwork network)
{
    private const string Name = "seeds.example";
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);

    private static ClusterPlan Named => new() { Machines = [1, 2, 3], SeedText = $"{Name}:7700", OracleSize = 3 };

    [Fact]
    public async Task A_name_for_several_machines_leads_to_one_system()
    {
        await NameAsync(1, 2, 3);
        await using var cluster = new HostCluster(network.Machines, Named);
        cluster.Start();
        await FormationTests.ServesAsync(cluster, "named", await cluster.RegisteredAsync(s_limit));
    }

    /// <summary>As with containers: the only process that the name stood for is gone, and its successor has another address.</summary>
    [Fact]
    public async Task A_process_that_starts_on_another_machine_under_the_old_name_joins_the_system_of_the_others()
    {
        await NameAsync(1);
        await using var cluster = new HostCluster(network.Machines, Named);
        cluster.Start();
        await cluster.RegisteredAsync(s_limit);
        string system = cluster.Status(1).System;
        await cluster.KillAsync(1);
        await NameAsync(4);
        cluster.Start(4);
        var joined = await cluster.RegisteredAsync(s_limit);
        Assert.All(cluster.Running.Keys, machine => Assert.Equal(system, cluster.Status(machine).System));
        await FormationTests.ServesAsync(cluster, "name-moved", joined);
    }

    /// <summary>Two clusters of one name whose keys differ hear each other, and stay two.</summary>
    [Fact]
    public async Task Machines_find_each_other_by_multicast_and_those_with_another_key_stay_apart()
    {
        await using var cluster = new HostCluster(network.Machines, Named with { SeedText = "multicast" });
        await using var other = new HostCluster(network.Machines, Named with { SeedText = "multicast", Machines = [4, 5], Port = 7701 });
        cluster.Start();
        other.Start();
        var formed = await cluster.RegisteredAsync(s_limit);
        await other.RegisteredAsync(s_limit);
        Assert.NotEqual(cluster.Status(1).System, other.Status(4).System);
        await FormationTests.ServesAsync(cluster, "multicast", formed);
        cluster.Start(4);
        await cluster.RegisteredAsync(s_limit);
    }

    /// <summary>The name stands for these machines from now on, at all machines.</summary>
    private async Task NameAsync(params int[] machines)
    {
        string lines = string.Concat(machines.Select(static machine => string.Create(CultureInfo.InvariantCulture, $"{Namespaces.Address(machine)} {Name}\n")));
        for (int machine = 1; machine <= network.Machines.Count; machine++) await network.Machines.SetHostsAsync(machine, lines);
    }
}
