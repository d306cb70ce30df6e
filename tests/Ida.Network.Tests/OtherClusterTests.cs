using System.Globalization;
using Ida.Network.Tests.Hosts;

namespace Ida.Network.Tests;

/// <summary>Two clusters of one name on one network stay two.</summary>
[Collection(HostNetworkCollection.Name)]
public sealed class OtherClusterTests(HostNetwork network)
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);

    /// <summary>One of the seeds of the second is a process of the first: neither lets the other in, and both say so.</summary>
    [Fact]
    public async Task With_different_keys_they_refuse_each_other_and_say_so()
    {
        await using var first = new HostCluster(network.Machines, new() { Machines = [1, 2], Seeds = [1, 2], OracleSize = 3, TargetSize = 2 });
        await using var second = new HostCluster(network.Machines, new() { Machines = [4, 5], Seeds = [4, 1], OracleSize = 3, TargetSize = 2 });
        first.Start();
        await first.RegisteredAsync(s_limit);
        second.Start();
        await second.UntilAsync("the second is registered", s_limit, () => second.Statuses(second.Running.Keys).All(static one => one.Active));
        await StayApartAsync(first, second, "PeerUntrusted", "another cluster key");
    }

    /// <summary>With one key they could talk, and do: founded while they were cut off from each other, they meet later at their seeds. Each refuses the other's frames, reports it and goes on.</summary>
    [Fact]
    public async Task With_one_key_two_that_were_founded_apart_do_not_merge_and_say_so()
    {
        string key = GroupCore.Transport.Credentials.Security.NewClusterKey();
        await network.Machines.CutAsync([4, 5], [1, 2]);
        await using var first = new HostCluster(network.Machines, new() { Key = key, Machines = [1, 2], Seeds = [1, 4], OracleSize = 3, TargetSize = 2 });
        await using var second = new HostCluster(network.Machines, new() { Key = key, Machines = [4, 5], Seeds = [4, 1], OracleSize = 3, TargetSize = 2 });
        first.Start();
        second.Start();
        await first.RegisteredAsync(s_limit);
        await second.UntilAsync("the second is registered", s_limit, () => second.Statuses(second.Running.Keys).All(static one => one.Active));
        await network.Machines.HealAsync();
        await StayApartAsync(first, second, "Notice", "SplitFoundation");
    }

    /// <summary>With seeds that have nothing in common they do not even hear of each other, key and name or not.</summary>
    [Fact]
    public async Task With_one_key_and_separate_seeds_they_do_not_meet()
    {
        string key = GroupCore.Transport.Credentials.Security.NewClusterKey();
        await using var first = new HostCluster(network.Machines, new() { Key = key, Machines = [1, 2], Seeds = [1, 2], OracleSize = 3, TargetSize = 2 });
        await using var second = new HostCluster(network.Machines, new() { Key = key, Machines = [4, 5], Seeds = [4, 5], OracleSize = 3, TargetSize = 2 });
        first.Start();
        second.Start();
        await StayApartAsync(first, second, null, "");
    }

    /// <summary>Both serve at one time, each its own system, and its own group of the same name; and each has told its log of the other.</summary>
    private static async Task StayApartAsync(HostCluster first, HostCluster second, string? logged, string says)
    {
        HostCluster[] both = [first, second];
        await Task.WhenAll(both.Select(static one => one.UntilAsync("all are registered in one system", s_limit, () => one.Statuses(one.Running.Keys).All(status => status.Active && status.System == one.Statuses(one.Running.Keys)[0].System))));
        if (logged is not null)
            foreach (var one in both) await one.UntilAsync($"the log tells of the other: {logged}", s_limit, () => one.Running.Keys.Any(machine => one.Status(machine).Events.Contains(logged)));
        var trials = await Task.WhenAll(both.Select(static one => HostTrial.BeginAsync(one, "apart")));
        foreach (var (cluster, trial) in both.Zip(trials)) await trial.AdvanceAsync(cluster.Running.Keys);
        Assert.NotEqual(first.Status(1).System, second.Status(4).System);
        Assert.Equal((2, 2), (first.Status(1).Members, second.Status(4).Members));
        foreach (var (cluster, trial) in both.Zip(trials))
        {
            var records = await trial.EndAsync();
            Assert.Single(records.Acts.Select(static act => act.System).Distinct());
            Assert.DoesNotContain(cluster.Running.Values, static one => one.Status.Events.Contains("Excluded"));
            if (logged is not null) Assert.Contains(cluster.Running.Keys, machine => cluster.LogOf(machine).Contains(says, StringComparison.Ordinal));
        }
        TestContext.Current.TestOutputHelper?.WriteLine(string.Create(CultureInfo.InvariantCulture, $"systems {first.Status(1).System} and {second.Status(4).System}; {string.Join(" | ", both.SelectMany(static one => one.Running.Keys.SelectMany(machine => one.LogOf(machine).Split('\n'))).Where(line => logged is not null && line.Contains($"{logged}:", StringComparison.Ordinal)).Take(4))}"));
    }
}
