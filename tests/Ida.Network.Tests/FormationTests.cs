using System.Globalization;
using Ida.Network.Tests.Hosts;
using Ida.Testing.Checking;

namespace Ida.Network.Tests;

/// <summary>Five processes on five machines find each other by one key, and serve.</summary>
[Collection(SharedClusterCollection.Name)]
public sealed class FormationTests(SharedCluster shared)
{
    [Fact]
    public async Task Five_machines_form_a_cluster_over_IPv4()
    {
        var cluster = await shared.ClusterAsync();
        await ServesAsync(cluster, "ipv4", shared.Formed);
        shared.Release();
    }

    /// <summary>Each process had gets and puts answered, had its messages come back to it in the order of all, and flushed.</summary>
    internal static async Task ServesAsync(HostCluster cluster, string name, TimeSpan formed)
    {
        var trial = await HostTrial.BeginAsync(cluster, name);
        await cluster.UntilAsync("each has heard its own ordered messages", TimeSpan.FromSeconds(20), () => cluster.Running.Keys.All(machine => cluster.Status(machine).Said > 5));
        var records = await trial.EndAsync(string.Create(CultureInfo.InvariantCulture, $"formed in {formed.TotalSeconds:F1} s"));
        var answered = records.History.Operations.Where(static one => one.Outcome == OperationOutcome.Ok).ToList();
        foreach (int machine in cluster.Running.Keys)
        {
            var own = answered.FindAll(one => records.Machines[one.Member] == machine);
            Assert.Contains(own, static one => one.Reads.Count > 0);
            Assert.Contains(own, static one => one.Writes.Count > 0);
            Assert.Contains(records.Acts, act => act.Kind == "flush" && records.MachineAt(act.Address) == machine);
        }
    }
}
