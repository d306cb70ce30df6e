using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>Ida 4.5 over the whole stack: members go one after the other while clients run; nothing is lost as long as others can take over.</summary>
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

    private static async Task Leave(DhtCluster dht, int member, int how)
    {
        if (how == 0) await dht[member].CloseAsync();
        else if (how == 1) await dht.GroupOf(member).LeaveAsync();
        else await dht.Members[member].Node.DisposeAsync();
    }
}
