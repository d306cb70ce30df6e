namespace Oracle.Tests;

/// <summary>Who comes to vote where many older ones cannot.</summary>
public sealed class LearnerChoiceTests
{
    private const int Hidden = 20;

    /// <summary>The oldest, beside the founder, can be dialled by nobody, and are more than a leader looks at in one step.</summary>
    [Fact]
    public void Any_number_of_older_processes_that_nobody_can_dial_keep_none_from_voting()
    {
        using var cluster = new OracleCluster(1, Hidden + 3);
        foreach (var one in cluster.Lives)
            for (int hidden = 1; hidden <= Hidden; hidden++) one.Node.Links.Doubted.Add(Ida.Testing.Simulation.AddressOf(hidden));
        cluster[0].StartAt(TimeSpan.Zero);
        for (int hidden = 1; hidden <= Hidden; hidden++) cluster[hidden].StartAt(TimeSpan.FromSeconds(2));
        foreach (int last in (int[])[Hidden + 1, Hidden + 2]) cluster[last].StartAt(TimeSpan.FromSeconds(4));
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3, 10), cluster.Describe());
        cluster.Run(2);
        Assert.Equal(3, cluster.Leader!.Oracle.Replica!.Log.Entries.Configuration.Voters.Count);
    }

    /// <summary>Each that does not answer takes a place among the replicas, of which there are so many. One makes room for the next, and comes again when all others have had their turn.</summary>
    [Fact]
    public void Learners_that_do_not_answer_make_room_for_others()
    {
        const int processes = 30;
        var leader = new LoneLeader(processes);
        var configurations = new List<Log.Configuration>();
        for (int tick = 0; tick < 600; tick++)
        {
            leader.Bus.Pass(100 * Durations.Millisecond);
            leader.Replica.Shell.Tick();
            leader.Turn();
            configurations.Add(leader.Replica.Log.Entries.Configuration);
        }
        for (ulong node = 2; node <= processes; node++) Assert.Contains(configurations, configuration => configuration.IsLearner(node));
        Assert.Contains(configurations[^100..], static configuration => configuration.IsLearner(2));
        Assert.All(configurations, static configuration => Assert.InRange(configuration.Voters.Count + configuration.Learners.Count, 1, State.Limits.Replicas));
    }
}
