using Ida.Network.Tests.Hosts;

namespace Ida.Network.Tests;

/// <summary>The same with addresses of IP version 6, with three of the five as voters, and with processes that end when they are excluded.</summary>
[Collection(HostNetworkCollection.Name)]
public sealed class FormationV6Tests(HostNetwork network)
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task Five_machines_form_a_cluster_over_IPv6_and_two_that_are_excluded_end_by_their_policy()
    {
        await using var cluster = new HostCluster(network.Machines, new() { V6 = true, OracleSize = 3, Policy = ExclusionPolicy.Exit });
        cluster.Start();
        await FormationTests.ServesAsync(cluster, "ipv6", await cluster.RegisteredAsync(s_limit));
        var trial = await HostTrial.BeginAsync(cluster, "ipv6-split");
        await cluster.WholeAsync(s_limit);
        int[] cut = cluster.PairThatMayBeLost(), others = [.. cluster.Plan.Machines.Except(cut)];
        await cluster.Machines.CutAsync(cut, others);
        await cluster.UntilAsync("the others go on", s_limit, () => cluster.AreTogether(others));
        await cluster.UntilAsync("the two are blocked", s_limit, () => cut.All(machine => cluster.Status(machine).State == "Blocked"));
        await trial.AdvanceAsync(others);
        await cluster.Machines.HealAsync();
        foreach (int machine in cut) Assert.Equal(IdaNode.ExcludedExitCode, await cluster.ExitAsync(machine, s_limit));
        await trial.EndAsync();
    }
}
