using GroupCore.Membership;
using GroupCore.Transport;

namespace Oracle.Tests;

/// <summary>Processes whose lists name the seeds in different orders. No list says which seed is first, but only one system may come of it.</summary>
public sealed class SeedOrderTests
{
    /// <summary>If each puts another seed first, all wait, and stop waiting at the same time. If each puts itself first, none waits.</summary>
    [Theory]
    [InlineData("1 0", "0 1")]
    [InlineData("0 1", "1 0")]
    [InlineData("2 1 0", "2 0 1")]
    [InlineData("1 2 0", "2 0 1", "0 1 2")]
    [InlineData("2 1 0", "0 2 1", "1 0 2")]
    [InlineData("0 1 2", "1 2 0", "2 0 1")]
    public void Seeds_that_put_each_other_first_found_one_system(params string[] lists)
    {
        for (ulong seed = 1; seed <= 30; seed++)
        {
            double offset = (seed % 5) * (seed % 5) * 15;
            // The lists may name one place more than there are lists. Only a stranger that never founds listens there.
            int places = lists.Max(list => list.Split(' ').Length);
            using var cluster = new OracleCluster(seed, places, shape: (node, options) => options with { Seeds = SeedsOf(node) });
            for (int place = lists.Length; place < places; place++) _ = new Asker(cluster[place].Node, [.. Enumerable.Range(0, lists.Length).Select(one => cluster[one].Node.Address)]);
            for (int place = 0; place < lists.Length; place++) cluster[place].StartAt(TimeSpan.FromMilliseconds(place * offset));
            cluster.Run(90);
            var started = cluster.Lives.Take(lists.Length).ToList();
            Assert.True(started.TrueForAll(process => process.Oracle.State == MembershipState.Active), cluster.Describe());
            Assert.True(started.DistinctBy(process => process.Oracle.System).Count() == 1, cluster.Describe());
        }

        IReadOnlyList<NodeAddress> SeedsOf(Ida.Testing.SimNode node) => ListOf(lists, node);
    }

    /// <summary>One seed is in the other's list but does not know the other. It learns of the other when the other asks it, and says that it is about to found.</summary>
    [Theory]
    [InlineData("0 1", "1")]
    [InlineData("0", "1 0")]
    [InlineData("0 1 2", "1 2", "2")]
    [InlineData("0", "1 0", "2 1 0")]
    [InlineData("0 2", "1 0", "2 1")]
    public void Seeds_of_which_one_does_not_know_the_other_found_one_system(params string[] lists)
    {
        for (ulong seed = 1; seed <= 150; seed++)
        {
            var latency = TimeSpan.FromMilliseconds(seed % 3 * 30);
            using var cluster = new OracleCluster(seed, lists.Length, shape: (node, options) => options with { Seeds = ListOf(lists, node) },
                link: new() { MinLatency = latency + TimeSpan.FromMilliseconds(0.1), MaxLatency = latency + TimeSpan.FromMilliseconds(1) });
            cluster.StartAll(TimeSpan.FromMilliseconds(seed % 2 == 0 ? 800 : 4_000));
            cluster.Run(12);
            Assert.True(cluster.Lives.TrueForAll(process => process.Oracle.State == MembershipState.Active), cluster.Describe());
            Assert.True(cluster.Lives.DistinctBy(process => process.Oracle.System).Count() == 1, cluster.Describe());
        }
    }

    /// <summary>
    /// The first seed dies again and again before it founds. The second has waited long enough just when the first seed's last life announces that it is about to found.
    /// </summary>
    [Theory]
    [InlineData(10.2)]
    [InlineData(16.2)]
    public void A_seed_that_starts_again_and_again_is_waited_for_again_when_it_is_about_to_found(double until)
    {
        for (ulong seed = 1; seed <= 40; seed++)
        {
            using var cluster = new OracleCluster(seed, 2, seeds: 2, options: new() { StartTimeout = TimeSpan.FromSeconds(15) });
            cluster[1].StartAt(TimeSpan.Zero);
            cluster[0].StartAt(TimeSpan.Zero);
            for (double next = 1.5; next < until + (0.05 * seed); next += 1.5)
            {
                cluster.Run(0.8);
                cluster[0].Node.Crash();
                cluster.Run(next - cluster.Simulation.Now.TotalSeconds);
                cluster.Restart(cluster[0], sameSeeds: true).StartAt(TimeSpan.Zero);
            }
            cluster.Run(10);
            Assert.True(cluster.Alive.Count() == 2 && cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), cluster.Describe());
            Assert.True(cluster.Alive.DistinctBy(process => process.Oracle.System).Count() == 1, cluster.Describe());
        }
    }

    private static IReadOnlyList<NodeAddress> ListOf(string[] lists, Ida.Testing.SimNode node)
    {
        int place = Enumerable.Range(0, lists.Length).FirstOrDefault(one => Ida.Testing.Simulation.AddressOf(one) == node.Address, -1);
        return place < 0 ? [] : [.. lists[place].Split(' ').Select(one => Ida.Testing.Simulation.AddressOf(int.Parse(one, System.Globalization.CultureInfo.InvariantCulture)))];
    }
}
