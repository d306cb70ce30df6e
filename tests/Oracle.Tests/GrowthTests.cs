using GroupCore.Membership;

namespace Oracle.Tests;

/// <summary>
/// One crash at every moment while the Oracle grows from one voter to three, or shrinks (oracle.md#the-size-of-the-oracle). Each instant is a run with its own seed. Two
/// losses cannot be avoided and are bounded: the founder dies before three vote, or another process dies in the round trip in which two vote.
/// </summary>
public sealed class GrowthTests
{
    private const int Instants = 200;
    private static readonly TimeSpan WhileGrowing = TimeSpan.FromMicroseconds(100);
    private static readonly TimeSpan Later = TimeSpan.FromMilliseconds(2);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void A_later_process_that_dies_while_the_Oracle_grows_hardly_ever_ends_it(int victim)
    {
        int lost = CountLost(WhileGrowing, (seed, after) => DiesWhileGrowing(victim, seed, after));
        Assert.True(lost <= 8, $"the Oracle was lost in {lost} of {Instants} runs");
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void From_20_ms_after_the_others_came_the_death_of_any_one_ends_nothing(int victim) =>
        Assert.Equal(0, CountLost(Later, (seed, after) => DiesWhileGrowing(victim, seed, TimeSpan.FromMilliseconds(20) + after)));

    [Fact]
    public void From_20_ms_after_one_of_three_departs_the_death_of_another_ends_nothing() =>
        Assert.Equal(0, CountLost(Later, (seed, after) => DiesWhileShrinking(seed, TimeSpan.FromMilliseconds(20) + after)));

    private static int CountLost(TimeSpan step, Func<ulong, TimeSpan, bool> isLost)
    {
        int lost = 0;
        for (int i = 0; i < Instants; i++)
            if (isLost((ulong)i + 1, i * step)) lost++;
        return lost;
    }

    private static bool DiesWhileGrowing(int victim, ulong seed, TimeSpan after)
    {
        using var cluster = new OracleCluster(seed, 4);
        cluster[0].StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster[0].Oracle.State == MembershipState.Active, 2), cluster.Describe());
        for (int i = 1; i < 4; i++) cluster[i].StartAt(TimeSpan.FromMilliseconds(cluster.Simulation.Random.Next(0, 3)));
        return IsLost(cluster, victim, after);
    }

    private static bool DiesWhileShrinking(ulong seed, TimeSpan after)
    {
        using var cluster = new OracleCluster(seed, 3);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 10), cluster.Describe());
        cluster.Run(1);
        cluster[2].Node.Post(cluster[2].Oracle.Depart);
        return IsLost(cluster, 1, after);
    }

    private static bool IsLost(OracleCluster cluster, int victim, TimeSpan after)
    {
        cluster.Simulation.After(after, () => cluster[victim].Node.Crash(hostAnswers: cluster.Simulation.Seed % 2 == 0));
        cluster.Run(after.TotalSeconds + 8);
        cluster.AssertNoViolations();
        return cluster.Leader is null;
    }
}
