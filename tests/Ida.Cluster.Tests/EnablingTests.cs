using GroupCore.Membership;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>Which groups can have a DHT.</summary>
public sealed class EnablingTests
{
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void F30_a_group_whose_views_may_overlap_has_no_dht(bool strict) =>
        SimulationRunner.ForEachSeed(2, $"*{nameof(F30_a_group_whose_views_may_overlap_has_no_dht)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            cluster.Simulation.RunAsync(async () =>
            {
                var member = await cluster.StartAsync();
                var group = await member.Node.JoinAsync("shop", _ => { }, new() { StrictPrimary = strict });
                var options = new DhtOptions { ShardSize = 1, TargetSize = 1 };
                if (strict)
                {
                    var dht = await group.EnableDhtAsync(options, DhtWorld.Maps);
                    await dht.Map<string, int>("ints").PutAsync("a", 1);
                    return;
                }
                var error = await Assert.ThrowsAsync<DhtConfigurationException>(async () => await group.EnableDhtAsync(options, DhtWorld.Maps));
                Assert.Contains(nameof(GroupOptions.StrictPrimary), error.Message, StringComparison.Ordinal);
                Assert.Contains("shop", error.Message, StringComparison.Ordinal);
            }, TimeSpan.FromMinutes(5));
        });

    /// <summary>Refused whether the group has had a DHT at this member or not, and whether it was left or its node was disposed of.</summary>
    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public void R_a_group_that_is_over_has_no_dht_any_more(bool before, bool node) =>
        SimulationRunner.ForEachSeed(2, $"*{nameof(R_a_group_that_is_over_has_no_dht_any_more)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            cluster.Simulation.RunAsync(async () =>
            {
                var member = await cluster.StartAsync();
                var group = await member.Node.JoinAsync("shop");
                var options = new DhtOptions { ShardSize = 1, TargetSize = 1 };
                if (before) await (await group.EnableDhtAsync(options, DhtWorld.Maps)).CloseAsync();
                if (node) await member.Node.DisposeAsync();
                else await group.LeaveAsync();
                await Assert.ThrowsAsync<NotDhtMemberException>(async () => await group.EnableDhtAsync(options, DhtWorld.Maps));
            }, TimeSpan.FromMinutes(5));
        });

    [Fact]
    public void Maps_that_are_declared_async_are_refused() =>
        SimulationRunner.ForEachSeed(1, $"*{nameof(Maps_that_are_declared_async_are_refused)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            cluster.Simulation.RunAsync(async () =>
            {
                var group = await (await cluster.StartAsync()).Node.JoinAsync("shop");
                var options = new DhtOptions { ShardSize = 1, TargetSize = 1 };
                var refused = await Assert.ThrowsAsync<ArgumentException>(async () => await group.EnableDhtAsync(options, static async d => await Task.CompletedTask));
                Assert.Equal("declare", refused.ParamName);
                Assert.Contains("async", refused.Message, StringComparison.Ordinal);
                // The refused call leaves nothing behind.
                await group.EnableDhtAsync(options, DhtWorld.Maps);
            }, TimeSpan.FromMinutes(5));
        });
}
