using System.Globalization;
using Ida.Network.Tests.Hosts;

namespace Ida.Network.Tests;

/// <summary>Only one pair of processes is cut, in one direction or in both, while all others reach both.</summary>
[Collection(SharedClusterCollection.Name)]
public sealed class LinkCutTests(SharedCluster shared)
{
    /// <summary>How long the pair stays cut.</summary>
    private static readonly TimeSpan s_cut = TimeSpan.FromSeconds(6);

    /// <summary>
    /// The longest time for which the clients at any process may be without an answer. The others reach both ends of the cut and vouch for them, so neither is excluded, and operations that need both ends
    /// wait as long as the cut lasts; behind them wait those that need the same keys. With a way around the cut this becomes a time that does not depend on the cut, and must be shorter than it.
    /// </summary>
    private static readonly TimeSpan s_longestGap = s_cut + TimeSpan.FromSeconds(1);

    /// <summary>How soon after the heal each process has answers: both ends give up the connection, or try again, at most some seconds later.</summary>
    private static readonly TimeSpan s_goesOn = TimeSpan.FromSeconds(10);

    /// <summary>How many processes may lose their places, unless the machine had no time for one of them.</summary>
    private const int MostExcluded = 0;
    private static readonly TimeSpan s_heldUp = TimeSpan.FromMilliseconds(300);

    [Fact]
    public Task A_pair_that_is_cut_in_one_direction_holds_up_the_others_for_a_bounded_time() => CutAsync("one-way", ["INPUT"], static (cluster, pair) => cluster.Machines.CutOneWayAsync(pair[0], pair[1]));

    [Fact]
    public Task A_pair_that_is_cut_holds_up_the_others_for_a_bounded_time() => CutAsync("pair", ["INPUT", "OUTPUT"], static (cluster, pair) => cluster.Machines.CutAsync([pair[0]], [pair[1]]));

    /// <summary>Cuts a pair, by rules of these chains of a firewall.</summary>
    private async Task CutAsync(string name, string[] rules, Func<HostCluster, int[], Task> cutAsync)
    {
        var cluster = await shared.ClusterAsync();
        var trial = await HostTrial.BeginAsync(cluster, name);
        // One of the two may be excluded, so they are no leader and hold different shards.
        int leader = cluster.Leader;
        int first = cluster.Plan.Machines.First(machine => machine != leader && cluster.Status(machine).Shard >= 0);
        int[] pair = [first, cluster.Plan.Machines.First(machine => machine != leader && machine != first && cluster.Status(machine).Shard != cluster.Status(first).Shard)];
        await cutAsync(cluster, pair);
        long cut = HostTrial.Now;
        await cluster.UntilAsync("the cut has lasted long enough", s_cut + s_cut, () => HostTrial.Between(cut, HostTrial.Now) > s_cut);
        long lasted = HostTrial.Now;
        var dropped = await cluster.Machines.DroppedAsync();
        long healed = HostTrial.Now;
        var records = await trial.EndAsync();
        var heldUp = trial.HeldUp;
        // The rules for the other version of IP have nothing to drop.
        Assert.All(dropped.Where(one => one.V6 == cluster.Plan.V6), static rule => Assert.True(rule.Packets > 0, $"Nothing was cut: {rule}"));
        Assert.Equal(rules, dropped.Where(one => one.V6 == cluster.Plan.V6).Select(static rule => rule.Chain).Order(StringComparer.Ordinal));
        var gaps = cluster.Plan.Machines.ToDictionary(static machine => machine, machine => records.LongestGap(machine, cut, lasted));
        var goesOn = records.FirstWriteAfter(healed, cluster.Plan.Machines);
        int excluded = records.Acts.Select(static act => act.Process).Distinct().Count() - cluster.Plan.Machines.Count;
        TestContext.Current.TestOutputHelper?.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{name}: between {pair[0]} and {pair[1]}, leader {leader}; longest time without an answer {string.Join(", ", gaps.Select(static one => string.Create(CultureInfo.InvariantCulture, $"{one.Key}: {one.Value.TotalSeconds:F1} s")))}; all had a write acknowledged {goesOn.TotalSeconds:F1} s after the heal"));
        Assert.All(gaps, gap => Assert.True(gap.Value <= s_longestGap + heldUp, $"The clients at machine {gap.Key} had no answer for {gap.Value.TotalSeconds} s."));
        Assert.True(goesOn <= s_goesOn + heldUp, $"A process had no write acknowledged for {goesOn.TotalSeconds} s after the heal.");
        Assert.True(excluded <= MostExcluded || heldUp > s_heldUp, $"{excluded} processes were excluded.");
        shared.Release();
    }
}
