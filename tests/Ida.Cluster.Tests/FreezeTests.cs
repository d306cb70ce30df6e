using GroupCore.Groups;
using GroupCore.Membership;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>A process that is frozen, in the middle of a turn or between turns.</summary>
public sealed class FreezeTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(5);

    [Fact]
    public void F34_what_is_asked_after_a_freeze_in_a_turn_is_not_answered_under_the_lease_before_it() =>
        SimulationRunner.ForEachSeed(20, $"*{nameof(F34_what_is_asked_after_a_freeze_in_a_turn_is_not_answered_under_the_lease_before_it)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            int judged = 0;
            simulation.RunAsync(async () =>
            {
                var dhts = new List<Task<Dht>>();
                for (int i = 0; i < 4; i++)
                {
                    var member = await cluster.StartAsync();
                    var group = await member.Node.JoinAsync("shop");
                    dhts.Add(group.EnableDhtAsync(new() { ShardSize = 4, TargetSize = 4 }, DhtWorld.Maps).AsTask());
                }
                var maps = (await Task.WhenAll(dhts)).Select(dht => dht.Map<string, int>("ints")).ToList();
                await dhts[3].Result.WhenInitialisedAsync();
                await maps[0].PutAsync("key", 1);
                // A member that has the value reads it without a message while no put waits.
                Assert.Equal(1, (await maps[3].GetAsync("key")).Value);
                cluster.Members[3].Host.PauseInTurn(TimeSpan.FromSeconds(20));
                await simulation.Delay(TimeSpan.FromSeconds(1));
                // Done once the frozen member is out of the view.
                await maps[0].PutAsync("key", 2);
                var read = maps[3].GetAsync("key", new() { Timeout = TimeSpan.FromSeconds(5) });
                try
                {
                    Assert.Equal(2, (await read).Value);
                }
                catch (DhtException)
                {
                    // The member is out of the view, and the call says so.
                }
                judged++;
            }, Limit);
            Assert.Equal(1, judged);
        });

    /// <summary>A frozen member (failure-detection.md#silence-excludes-nobody-before-a-majority-confirms-the-leader), with the default options. Decision 0008 says how long a
    /// harmless pause may be.</summary>
    [Fact]
    public void B16_a_member_that_is_stopped_for_half_a_second_stays_and_one_stopped_for_eight_is_out_and_reads_nothing() =>
        SimulationRunner.ForEachSeed(20, $"*{nameof(B16_a_member_that_is_stopped_for_half_a_second_stays_and_one_stopped_for_eight_is_out_and_reads_nothing)}", run =>
        {
            var cluster = new SimCluster(run.Start());
            var simulation = cluster.Simulation;
            bool judged = false;
            simulation.RunAsync(async () =>
            {
                var groups = new List<Group>();
                var dhts = new List<Task<Dht>>();
                for (int i = 0; i < 4; i++)
                {
                    var member = await cluster.StartAsync();
                    groups.Add(await member.Node.JoinAsync("shop"));
                    dhts.Add(groups[i].EnableDhtAsync(new() { ShardSize = 4, TargetSize = 4 }, DhtWorld.Maps).AsTask());
                }
                var maps = (await Task.WhenAll(dhts)).Select(dht => dht.Map<string, int>("ints")).ToList();
                await dhts[3].Result.WhenInitialisedAsync();
                await maps[0].PutAsync("key", 1);
                ulong view = groups[0].CurrentView.Id;
                var stopped = cluster.Members[3];
                for (int times = 0; times < 3; times++)
                {
                    stopped.Host.Pause(TimeSpan.FromSeconds(0.5));
                    await simulation.Delay(TimeSpan.FromSeconds(2));
                }
                Assert.All(groups, group => Assert.Equal(view, group.CurrentView.Id));

                var begun = simulation.Now;
                stopped.Host.Pause(TimeSpan.FromSeconds(8));
                // Done once the stopped member is out of the view.
                await maps[0].PutAsync("key", 2);
                Assert.InRange(simulation.Now - begun, TimeSpan.FromSeconds(0.8), TimeSpan.FromSeconds(4));
                await simulation.Delay(begun + TimeSpan.FromSeconds(7.9) - simulation.Now);
                var read = maps[3].GetAsync("key", new() { Timeout = TimeSpan.FromSeconds(5) }).AsTask();
                await simulation.Delay(TimeSpan.FromSeconds(1.1));
                Assert.Equal(MembershipState.Excluded, stopped.Node.State);
                await Assert.ThrowsAnyAsync<DhtException>(() => read);
                judged = true;
            }, Limit);
            Assert.True(judged);
        });
}
