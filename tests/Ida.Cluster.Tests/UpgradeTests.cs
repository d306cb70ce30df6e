using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>A program is upgraded process by process; the new version has one map and one resolver more.</summary>
public sealed class UpgradeTests
{
    private static readonly DhtOptions s_options = new() { ShardSize = 2, TargetSize = 2 };

    [Fact]
    public void What_only_the_new_program_has_is_used_when_all_members_are_new() =>
        SimulationRunner.ForEachSeed(2, $"*{nameof(What_only_the_new_program_has_is_used_when_all_members_are_new)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            cluster.Simulation.RunAsync(async () =>
            {
                var (first, before) = await StartAsync(cluster, Old);
                var (second, _) = await StartAsync(cluster, Old);
                await before.Map<string, int>("stock").PutAsync("apples", 3);
                Dht dht = before;
                foreach (var old in new[] { first, second })
                {
                    (_, dht) = await StartAsync(cluster, New);
                    await dht.WhenInitialisedAsync();
                    var notYet = await Assert.ThrowsAsync<MapNotAgreedException>(async () => await dht.Map<string, string>("notes").PutAsync("apples", "ripe"));
                    Assert.Equal("notes", notYet.Map);
                    await Assert.ThrowsAsync<MapNotAgreedException>(async () => await dht.Map<string, int>("stock").MergeAsync("apples", 1));
                    Assert.Equal(3, (await dht.Map<string, int>("stock").GetAsync("apples")).Value);
                    await old.Node.DisposeAsync();
                }
                // The last old member is gone before all others know that it is.
                Exception? error = new InvalidOperationException("It was not tried.");
                for (int i = 0; i < 100 && error is not null; i++)
                {
                    error = await Record.ExceptionAsync(async () => await dht.Map<string, string>("notes").PutAsync("apples", "ripe"));
                    if (error is not null) await cluster.Simulation.Delay(TimeSpan.FromMilliseconds(100));
                }
                Assert.Null(error);
                Assert.Equal(4, await dht.Map<string, int>("stock").MergeAsync("apples", 1));
                var late = await Assert.ThrowsAsync<DhtConfigurationException>(async () => await StartAsync(cluster, Old));
                Assert.Contains("\"notes\"", late.Message, StringComparison.Ordinal);
                Assert.Equal("ripe", (await dht.Map<string, string>("notes").GetAsync("apples")).Value);
            }, TimeSpan.FromMinutes(10));
        });

    private static async Task<(SimMember Member, Dht Dht)> StartAsync(SimCluster cluster, Action<DhtMaps> declare)
    {
        var member = await cluster.StartAsync();
        return (member, await (await member.Node.JoinAsync("shop")).EnableDhtAsync(s_options, declare));
    }

    private static void Old(DhtMaps maps) => maps.Map<string, int>("stock");

    private static void New(DhtMaps maps)
    {
        maps.Map<string, int>("stock").OnMerge<int>(static (_, stored, more) => stored + more);
        maps.Map<string, string>("notes");
    }
}
