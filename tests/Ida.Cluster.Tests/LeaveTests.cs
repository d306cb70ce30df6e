using GroupCore.Membership;
using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>Over the whole stack (dht-view-change.md#a-leaver-stays-as-the-source): members leave one by one while clients run. Nothing is lost as long as others can take over.</summary>
public sealed class LeaveTests
{
    [Fact]
    public void Members_that_leave_hand_over_what_only_they_hold() =>
        SimulationRunner.ForEachSeed(100, $"*{nameof(Members_that_leave_hand_over_what_only_they_hold)}", run =>
        {
            var simulation = run.Start();
            int shardSize = 1 + simulation.Random.Next(2);
            var dht = new DhtCluster(simulation, shardSize: shardSize, targetSize: 2 * shardSize);
            var gone = new List<int>();
            var report = dht.Run(5, async () =>
            {
                for (int i = 0; i < 3; i++)
                {
                    await simulation.Delay(TimeSpan.FromMilliseconds(100 + simulation.Random.Next(100)));
                    int leaver = simulation.Random.Next(5);
                    while (gone.Contains(leaver)) leaver = (leaver + 1) % 5;
                    gone.Add(leaver);
                    var start = simulation.Now;
                    await Leave(dht, leaver, simulation.Random.Next(3));
                    Assert.InRange(simulation.Now - start, TimeSpan.Zero, TimeSpan.FromSeconds(5));
                    Assert.True(dht[leaver].Completion.IsCompletedSuccessfully);
                }
                await simulation.Delay(TimeSpan.FromMilliseconds(200));
            });
            report.ThrowIfFailed();
            Assert.False(dht.Lost);
            Assert.All(Enumerable.Range(0, 5).Except(gone), member => Assert.False(dht[member].Completion.IsCompleted));
            Assert.True(dht.Clients.Sum(client => client.Succeeded) > 100, $"{dht.Clients.Sum(client => client.Succeeded)} operations");
        });

    /// <summary>No side of the partition has a majority: all members block, nobody is excluded, and afterwards all go on with what they hold.</summary>
    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void R_the_only_holder_of_a_shard_that_leaves_while_nobody_leads_hands_over_when_somebody_does(int how) =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(R_the_only_holder_of_a_shard_that_leaves_while_nobody_leads_hands_over_when_somebody_does)}", run =>
        {
            var simulation = run.Start();
            var dht = new DhtCluster(simulation, shardSize: 1, targetSize: 2);
            int leaver = -1;
            var report = dht.Run(5, async () =>
            {
                await simulation.Delay(TimeSpan.FromMilliseconds(200));
                leaver = await HolderAsync(dht);
                simulation.Network.Partition([.. dht.Members.Select(static member => (IReadOnlyList<SimNode>)[member.Host])]);
                while (dht.Members.Any(static member => member.Node.State != MembershipState.Blocked)) await simulation.Delay(TimeSpan.FromMilliseconds(10));
                var leaving = simulation.Spawn(() => Leave(dht, leaver, how));
                await simulation.Delay(TimeSpan.FromSeconds(1));
                Assert.False(dht[leaver].Completion.IsCompleted);
                simulation.Network.Heal();
                await leaving;
            });
            report.ThrowIfFailed();
            Assert.False(dht.Lost);
            Assert.All(Enumerable.Range(0, 5).Where(member => member != leaver), member => Assert.False(dht[member].Completion.IsCompleted));
        });

    /// <summary>The guide's bound: the hand-over, then 3 s for the farewell, then 200 ms.</summary>
    [Fact]
    public void R_to_dispose_of_a_node_on_the_minority_side_takes_no_longer_than_hand_over_and_farewell() =>
        SimulationRunner.ForEachSeed(5, $"*{nameof(R_to_dispose_of_a_node_on_the_minority_side_takes_no_longer_than_hand_over_and_farewell)}", run =>
        {
            var simulation = run.Start();
            var dht = new DhtCluster(simulation, shardSize: 1, targetSize: 2);
            dht.Run(5, async () =>
            {
                int leaver = await HolderAsync(dht);
                var node = dht.Members[leaver];
                dht.NoteLeaving(leaver);
                simulation.Network.Partition([node.Host], [.. dht.Members.Where(member => member != node).Select(static member => member.Host)]);
                while (node.Node.State != MembershipState.Blocked) await simulation.Delay(TimeSpan.FromMilliseconds(10));
                var start = simulation.Now;
                await node.Node.DisposeAsync();
                Assert.InRange(simulation.Now - start, TimeSpan.Zero, TimeSpan.FromSeconds(13.3));
            });
        });

    private static async Task<int> HolderAsync(DhtCluster dht)
    {
        for (int member = 0; ; member++)
            if ((await dht[member].StatusAsync()).OwnSlot >= 0) return member;
    }

    private static async Task Leave(DhtCluster dht, int member, int how)
    {
        dht.NoteLeaving(member);
        if (how == 0) await dht[member].CloseAsync();
        else if (how == 1) await dht.GroupOf(member).LeaveAsync();
        else await dht.Members[member].Node.DisposeAsync();
    }
}
