using GroupCore.Membership;

namespace Oracle.Tests;

/// <summary>
/// The leader, which founded the system, dies at every moment of the first second in which three vote. A majority of voters lives, so the others have a view without it within
/// seconds (oracle.md#when-things-fail). Each instant is a run with its own seed.
/// </summary>
public sealed class LeaderDeathTests
{
    private const int Instants = 250;
    private const double Bound = 5;
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(4);
    private static readonly TimeSpan Instant = TimeSpan.FromMicroseconds(10);

    /// <summary>What the others can find out about the dead one.</summary>
    public enum Sign
    {
        /// <summary>Its address refuses dials, and its process is gone.</summary>
        Gone,

        /// <summary>Its address refuses dials; the operating system's process that it was part of lives.</summary>
        Refused,

        /// <summary>Nothing: its host is dead.</summary>
        None,
    }

    [Theory]
    [InlineData(3, Sign.Gone)]
    [InlineData(3, Sign.Refused)]
    [InlineData(3, Sign.None)]
    [InlineData(4, Sign.Gone)]
    [InlineData(4, Sign.Refused)]
    [InlineData(4, Sign.None)]
    [InlineData(5, Sign.Refused)]
    public void When_the_founder_dies_the_others_go_on_in_a_view_without_it(int processes, Sign sign)
    {
        var times = new List<double>();
        for (int i = 0; i < Instants; i++) times.Add(TimeWithout(processes, sign, (ulong)i + 1, i * Step));
        times.Sort();
        // No suspicion has to be repeated: those that arrive while the next leader begins count.
        if (sign != Sign.None) Assert.True(times[Instants / 2] < 0.1, $"median {times[Instants / 2]} s");
    }

    /// <summary>
    /// The connections break as the third voter begins to vote, and with them the founder's news of it is lost. Only the log is sent again. From the log alone the others must
    /// know each other when the founder dies 150 ms later, before it was asked again.
    /// </summary>
    [Fact]
    public void Voters_that_were_told_of_each_other_by_the_log_alone_find_each_other()
    {
        for (int i = 0; i < Instants; i++)
        {
            using var cluster = Starting(3, Sign.Refused, (ulong)i + 1);
            Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 10), cluster.Describe());
            cluster.Run((i * Instant).TotalSeconds);
            foreach (var other in cluster.Lives.Skip(1)) cluster.Simulation.Network.Break(cluster[0].Node, other.Node);
            cluster.Run(0.15);
            cluster[0].Node.Crash();
            // Their first questions to the next leader are lost as well.
            for (int breaks = 0; breaks < 30; breaks++)
            {
                cluster.Run(0.03);
                cluster.Simulation.Network.Break(cluster[1].Node, cluster[2].Node);
            }
            cluster.Run(Bound);
            Assert.True(cluster.Alive.Count() == 2 && cluster.Alive.All(process => process.Oracle.LeaseUntil > process.Node.Node.Now), cluster.Describe());
        }
    }

    /// <summary>A question for a lease reaches the next leader before it has committed an entry of its own. The leader keeps the question until it has.</summary>
    [Fact]
    public void A_question_for_a_lease_that_comes_while_a_leader_begins_is_answered_when_it_has_begun()
    {
        for (ulong seed = 1; seed <= 20; seed++)
        {
            using var cluster = Running(3, Sign.Refused, seed);
            cluster.Run(1);
            var others = cluster.Lives.Skip(1).ToList();
            cluster[0].Node.Crash();
            Assert.True(cluster.RunUntil(() => cluster.Leader is { } leader && others.Contains(leader), Bound), cluster.Describe());
            long led = cluster.Leader!.Node.Node.Now;
            // Less time than until the question is repeated.
            cluster.Run(0.05);
            Assert.True(cluster.Leader!.Oracle.LeaseUntil > led + (cluster.Options.LeaseDuration.Nanoseconds() * 19 / 20), $"{cluster.Describe()}: lease for {(cluster.Leader!.Oracle.LeaseUntil - led) / 1e9} s");
        }
    }

    private static double TimeWithout(int processes, Sign sign, ulong seed, TimeSpan after)
    {
        using var cluster = Running(processes, sign, seed);
        cluster.Run(after.TotalSeconds);
        cluster[0].Node.Crash(hostAnswers: sign != Sign.None);
        TimeSpan died = cluster.Simulation.Now;
        Assert.True(cluster.RunUntil(() => cluster.Settled("g"), Bound), cluster.Describe());
        cluster.AssertNoViolations();
        return (cluster.Simulation.Now - died).TotalSeconds;
    }

    private static OracleCluster Running(int processes, Sign sign, ulong seed)
    {
        var cluster = Starting(processes, sign, seed);
        Assert.True(cluster.RunUntil(() => cluster.Settled("g") && cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 10), cluster.Describe());
        return cluster;
    }

    private static OracleCluster Starting(int processes, Sign sign, ulong seed)
    {
        OracleCluster? made = null;
        var probe = new SimProbe(number => made!.Lives.Find(life => SimProbe.NumberOf(life.Node) == number)?.Node)
        {
            Now = sign == Sign.Gone ? SimProbe.Mood.Truthful : SimProbe.Mood.SaysAlive,
        };
        var cluster = made = new OracleCluster(seed, processes, shape: probe.Shape);
        cluster.OnActive = process => process.Node.Post(() => process.Oracle.Join("g", new(), ""));
        cluster[0].StartAt(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster[0].Oracle.State == MembershipState.Active, 3), cluster.Describe());
        for (int i = 1; i < processes; i++) cluster[i].StartAt(TimeSpan.FromMilliseconds(cluster.Simulation.Random.Next(0, 30)));
        return cluster;
    }
}
