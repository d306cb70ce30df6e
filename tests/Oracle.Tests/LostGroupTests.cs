using GroupCore.Membership;

namespace Oracle.Tests;

/// <summary>A group without surviving members is over, but a member that is cut off may act in it until its lease ends. Until then the name is kept.</summary>
public sealed class LostGroupTests
{
    private const string Name = "lone";

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_name_is_free_again_when_no_member_of_the_lost_group_can_act_any_more(bool created)
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = Running(seed, 5, out var lone);
            var others = cluster.Alive.Where(process => process != lone).ToList();
            cluster.Simulation.Network.Partition([lone.Node], others.ConvertAll(process => process.Node));
            foreach (var other in others) other.Node.Post(() => other.Oracle.Suspect(lone.Oracle.Self, Suspicion.Timeout));
            Assert.True(cluster.RunUntil(() => !cluster.Leader!.Oracle.Replica!.State.IsAlive(lone.Oracle.Self), 0.1), cluster.Describe());
            foreach (var other in others)
            {
                other.Node.Post(() =>
                {
                    if (created) other.Oracle.Create(Name, new(), others.ConvertAll(process => process.Oracle.Self));
                    else other.Oracle.Join(Name, new(), "");
                });
            }
            Assert.True(cluster.RunUntil(() => others.TrueForAll(other => other.Groups.ViewOf(Name)?.Members.Count == 4), 8), cluster.Describe());
            cluster.Run(1);
            cluster.AssertNoViolations();
        }
    }

    /// <summary>The next leader knows of no lease. It waits until none that its predecessor granted can be left.</summary>
    [Fact]
    public void The_name_stays_kept_when_the_leader_dies()
    {
        for (ulong seed = 1; seed <= 10; seed++)
        {
            using var cluster = Running(seed, 5, out var lone);
            var others = cluster.Alive.Where(process => process != lone).ToList();
            cluster.Simulation.Network.Partition([lone.Node], others.ConvertAll(process => process.Node));
            foreach (var other in others) other.Node.Post(() => other.Oracle.Suspect(lone.Oracle.Self, Suspicion.Timeout));
            Assert.True(cluster.RunUntil(() => !cluster.Leader!.Oracle.Replica!.State.IsAlive(lone.Oracle.Self), 5), cluster.Describe());
            cluster.Leader!.Node.Crash();
            foreach (var other in others.Where(other => other.Node.Alive)) other.Node.Post(() => other.Oracle.Join(Name, new(), ""));
            Assert.True(cluster.RunUntil(() => others.TrueForAll(other => !other.Node.Alive || other.Groups.ViewOf(Name)?.Members.Count == 3), 10), cluster.Describe());
            cluster.Run(1);
            cluster.AssertNoViolations();
        }
    }

    /// <summary>A member that is proved dead cannot act, so nothing waits for its lease.</summary>
    [Fact]
    public void The_name_of_a_group_whose_only_member_crashed_is_free_at_once()
    {
        using var cluster = Running(1, 5, out var lone);
        lone.Node.Crash();
        Assert.True(cluster.RunUntil(() => !cluster.Leader!.Oracle.Replica!.State.IsAlive(lone.Oracle.Self), 5), cluster.Describe());
        var next = cluster.Alive.First();
        next.Node.Post(() => next.Oracle.Join(Name, new(), ""));
        Assert.True(cluster.RunUntil(() => next.Groups.ViewOf(Name) is not null, 0.2), cluster.Describe());
    }

    /// <summary>
    /// One process may leave thousands of lost groups behind. If all names were released in entries that follow each other at once, every replica would be busy with them.
    /// </summary>
    [Fact]
    public void Names_that_are_due_at_once_are_freed_a_bounded_number_with_each_tick()
    {
        const int groups = 600, most = 256;
        using var cluster = Running(1, 5, out var lone);
        for (int i = 0; i < groups; i++)
        {
            string name = $"own{i}";
            lone.Node.Post(() => lone.Oracle.Join(name, new(), ""));
        }
        Assert.True(cluster.RunUntil(() => lone.Groups.Groups.Count(group => group.View is not null) == groups + 1, 10), cluster.Describe());
        var others = cluster.Alive.Where(process => process != lone).ToList();
        cluster.Simulation.Network.Partition([lone.Node], others.ConvertAll(process => process.Node));
        foreach (var other in others) other.Node.Post(() => other.Oracle.Suspect(lone.Oracle.Self, Suspicion.Timeout));
        var state = cluster.Leader!.Oracle.Replica!.State;
        Assert.True(cluster.RunUntil(() => state.Lost.Count == groups + 1, 5), cluster.Describe());
        int before = state.Lost.Count, freed = 0;
        Assert.True(cluster.RunUntil(() =>
        {
            freed = Math.Max(freed, before - state.Lost.Count);
            before = state.Lost.Count;
            return before == 0;
        }, 8), cluster.Describe());
        Assert.InRange(freed, 1, most);
    }

    /// <summary>A system of the given size, and a group of one process that does not vote.</summary>
    private static OracleCluster Running(ulong seed, int processes, out OracleCluster.Process lone)
    {
        var cluster = new OracleCluster(seed, processes);
        cluster.StartAll(TimeSpan.Zero);
        Assert.True(cluster.RunUntil(() => cluster.Leader?.Oracle.Replica!.Log.Entries.Configuration.Voters.Count == 3 && cluster.Alive.All(process => process.Oracle.State == MembershipState.Active), 10), cluster.Describe());
        cluster.Run(2);
        var voters = cluster.Leader!.Oracle.Replica!.Log.Entries.Configuration;
        var one = lone = cluster.Alive.First(process => !voters.Contains(process.Node.Id));
        one.Node.Post(() => one.Oracle.Join(Name, new(), ""));
        Assert.True(cluster.RunUntil(() => one.Groups.ViewOf(Name) is not null, 3), cluster.Describe());
        return cluster;
    }
}
