using System.Globalization;
using Ida.Network.Tests.Hosts;

namespace Ida.Network.Tests;

/// <summary>Packets get lost, or have to wait: operations go on, and data stay consistent.</summary>
[Collection(SharedClusterCollection.Name)]
public sealed class LossTests(SharedCluster shared)
{
    /// <summary>How often what is promised for a network that loses little is tried: where a process was held up meanwhile, its exclusion says nothing of the network.</summary>
    private const int Attempts = 3;

    /// <summary>What a machine may send in a second: at times its clients would send more.</summary>
    private const int Kilobits = 1_000;
    private static readonly TimeSpan s_heldUp = TimeSpan.FromMilliseconds(300);

    [Theory]
    [InlineData(0.01)]
    [InlineData(0.05)]
    public async Task With_little_loss_operations_go_on_and_nobody_is_excluded(double share)
    {
        for (int attempt = 1; ; attempt++)
        {
            string? changed = await UnderAsync(Name($"loss-{share * 100}-{attempt}"), cluster => cluster.Machines.LoseAsync(share), LostAsync, answers: 100);
            if (changed is null) return;
            Assert.True(attempt < Attempts, changed);
        }
    }

    /// <summary>Anybody may be excluded then, and comes back.</summary>
    [Fact]
    public Task With_a_loss_of_a_fifth_data_are_consistent() => UnderAsync("loss-20", static cluster => cluster.Machines.LoseAsync(0.2), LostAsync, answers: 20, mayChange: true);

    /// <summary>The values of the clients fill the link at times.</summary>
    [Fact]
    public async Task Over_a_narrow_link_operations_go_on_and_nobody_is_excluded()
    {
        for (int attempt = 1; ; attempt++)
        {
            string? changed = await UnderAsync(Name($"narrow-{attempt}"), static cluster => cluster.Machines.NarrowAsync(Kilobits), static cluster => cluster.Machines.LateAsync(), answers: 100);
            if (changed is null) return;
            Assert.True(attempt < Attempts, changed);
        }
    }

    private static async Task<long> LostAsync(HostCluster cluster) => (await cluster.Machines.DroppedAsync()).Sum(static rule => rule.Packets);

    /// <summary>Works while something is done to the network. What changed though nobody was held up, or null.</summary>
    /// <param name="name">Of the trial.</param>
    /// <param name="begin">Does it.</param>
    /// <param name="met">How many packets met with it.</param>
    /// <param name="answers">How many answers each process is to have meanwhile.</param>
    /// <param name="mayChange">Whether processes may be excluded.</param>
    private async Task<string?> UnderAsync(string name, Func<HostCluster, Task> begin, Func<HostCluster, Task<long>> met, int answers, bool mayChange = false)
    {
        var cluster = await shared.ClusterAsync();
        var trial = await HostTrial.BeginAsync(cluster, name);
        ulong view = cluster.Status(1).View;
        long began, ended, packets;
        try
        {
            await begin(cluster);
            began = HostTrial.Now;
            await trial.AdvanceAsync(cluster.Plan.Machines, answers);
            ended = HostTrial.Now;
            packets = await met(cluster);
        }
        finally
        {
            await cluster.Machines.HealAsync();
        }
        var records = await trial.EndAsync();
        var heldUp = trial.HeldUp;
        Assert.True(packets > 0, "Nothing happened to any packet.");
        var gap = cluster.Plan.Machines.Max(machine => records.LongestGap(machine, began, ended));
        int answered = records.AnswersTo(cluster.Plan.Machines, began, ended);
        var last = records.Acts.Max(static act => act.View);
        TestContext.Current.TestOutputHelper?.WriteLine(Name($"{name}: {packets} packets lost or late, {answered} operations in {HostTrial.Between(began, ended).TotalSeconds:F1} s, longest time without an answer at a process {gap.TotalSeconds:F2} s, views {view} to {last}"));
        shared.Release();
        if (mayChange || last == view) return null;
        string changed = $"From view {view}, that of all, it went to view {last}; a process was held up for {heldUp.TotalMilliseconds} ms.";
        Assert.True(heldUp > s_heldUp, changed);
        return changed;
    }

    private static string Name(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
