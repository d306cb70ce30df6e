using System.Globalization;
using Ida.Network.Tests.Hosts;

namespace Ida.Network.Tests;

/// <summary>Processes are killed, and others begin at the same addresses.</summary>
[Collection(SharedClusterCollection.Name)]
public sealed class RestartTests(SharedCluster shared)
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(60);

    /// <summary>Each of them once, so that at the end all voters are others than at the beginning; data that were acknowledged outlive all of them.</summary>
    [Fact]
    public async Task All_voters_are_restarted_one_after_the_other()
    {
        var cluster = await shared.ClusterAsync();
        var trial = await HostTrial.BeginAsync(cluster, "rolling");
        string before = cluster.Status(1).System;
        long began = HostTrial.Now;
        foreach (int machine in cluster.Plan.Machines)
        {
            await cluster.KillAsync(machine);
            await cluster.UntilAsync("the others go on", s_limit, () => cluster.AreTogether(cluster.Running.Keys));
            cluster.Start(machine);
            await cluster.RegisteredAsync(s_limit);
            await trial.ServeAsync(machine);
            await cluster.WholeAsync(s_limit);
        }
        long ended = HostTrial.Now;
        var records = await trial.EndAsync(Text($"five restarts in {HostTrial.Between(began, ended).TotalSeconds:F1} s"));
        Assert.Equal(before, cluster.Status(1).System);
        // Each life at an address is another process for the others.
        foreach (int machine in cluster.Plan.Machines)
            Assert.True(records.Acts.Where(act => records.MachineAt(act.Address) == machine).Select(static act => act.Process).Distinct().Count() >= 2, $"machine {machine}");
        shared.Release();
    }

    /// <summary>Data live in memory only, so they are gone with all of them; what begins then is a system of its own, and there is only one.</summary>
    [Fact]
    public async Task All_that_are_restarted_at_once_are_a_new_cluster()
    {
        var cluster = await shared.ClusterAsync();
        string before = cluster.Status(1).System;
        foreach (int machine in cluster.Plan.Machines) cluster.Running[machine].Kill();
        foreach (int machine in cluster.Plan.Machines) await cluster.KillAsync(machine);
        cluster.Start();
        var formed = await cluster.RegisteredAsync(s_limit);
        Assert.NotEqual(before, cluster.Status(1).System);
        await FormationTests.ServesAsync(cluster, "restarted", formed);
        shared.Release();
    }

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
