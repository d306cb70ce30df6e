using GroupCore.Membership;
using GroupCore.Transport;

namespace Oracle.Tests;

/// <summary>Processes whose lists name the seeds in different orders: no list says who is first, and one system comes of it all the same.</summary>
public sealed class SeedOrderTests
{
    /// <summary>
    /// Each puts another first, so each waits, and they have waited long enough at the same time; or each puts itself first, and waits for nobody.
    /// </summary>
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
            // One more than there are lists may be named: nobody listens there but a stranger who never founds.
            int places = lists.Max(list => list.Split(' ').Length);
            using var cluster = new OracleCluster(seed, places, shape: (node, options) => options with { Seeds = SeedsOf(node) });
            for (int place = lists.Length; place < places; place++) _ = new Asker(cluster[place].Node, [.. Enumerable.Range(0, lists.Length).Select(one => cluster[one].Node.Address)]);
            for (int place = 0; place < lists.Length; place++) cluster[place].StartAt(TimeSpan.FromMilliseconds(place * offset));
            cluster.Run(90);
            var started = cluster.Lives.Take(lists.Length).ToList();
            Assert.True(started.TrueForAll(process => process.Oracle.State == MembershipState.Active), cluster.Describe());
            Assert.True(started.DistinctBy(process => process.Oracle.System).Count() == 1, cluster.Describe());
        }

        IReadOnlyList<NodeAddress> SeedsOf(Ida.Testing.SimNode node)
        {
            int place = Enumerable.Range(0, lists.Length).FirstOrDefault(one => Ida.Testing.Simulation.AddressOf(one) == node.Address, -1);
            return place < 0 ? [] : [.. lists[place].Split(' ').Select(one => Ida.Testing.Simulation.AddressOf(int.Parse(one, System.Globalization.CultureInfo.InvariantCulture)))];
        }
    }
}
