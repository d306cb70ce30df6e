using GroupCore.Groups;

namespace GroupCore.Tests.Groups;

/// <summary>Time limits that callers give.</summary>
public sealed class TimeoutTests
{
    private static (GroupCluster Cluster, TaskCompletionSource Gate) Muted(ulong seed)
    {
        var gate = new TaskCompletionSource();
        var cluster = new GroupCluster(seed, 1, more: g => g.OnQueryAsync<int, int>("late", async (from, question) =>
        {
            await gate.Task.ConfigureAwait(false);
            return QueryAnswer<int>.Of(question);
        }));
        Assert.True(cluster.Settle());
        return (cluster, gate);
    }

    public static TheoryData<TimeSpan> Long => [Timeout.InfiniteTimeSpan, TimeSpan.MaxValue, TimeSpan.FromDays(36_500)];

    [Theory, MemberData(nameof(Long))]
    public void R11_a_query_without_a_limit_waits(TimeSpan timeout)
    {
        var (cluster, gate) = Muted(61);
        using var closing = cluster;
        Task<IReadOnlyList<MemberReply<int>>>? answers = null;
        _ = cluster.Simulation.Spawn(() => answers = cluster[0].Group!.QueryAsync<int, int>("late", 7, timeout: timeout).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMinutes(2));
        Assert.False(answers!.IsCompleted);
        cluster.Simulation.After(TimeSpan.Zero, gate.SetResult);
        Assert.True(cluster.Simulation.RunUntil(() => answers.IsCompletedSuccessfully, TimeSpan.FromSeconds(5)));
    }

    /// <summary>Calls that are made while the process is frozen run in the rest of the turn that was interrupted.</summary>
    [Fact]
    public void R11_a_query_of_a_frozen_turn_has_all_of_its_time()
    {
        var (cluster, _) = Muted(63);
        using var closing = cluster;
        var limit = TimeSpan.FromSeconds(5);
        cluster[0].SimNode.PauseInTurn(TimeSpan.FromSeconds(4));
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        var begun = cluster.Simulation.Now;
        bool over = false;
        _ = cluster.Simulation.Spawn(async () =>
        {
            await Assert.ThrowsAsync<QueryTimeoutException>(() => cluster[0].Group!.QueryAsync<int, int>("late", 7, timeout: limit).AsTask());
            over = true;
        });
        Assert.True(cluster.Simulation.RunUntil(() => over, TimeSpan.FromSeconds(30)));
        // Clocks drift by a hundredth.
        Assert.True(cluster.Simulation.Now - begun >= limit * 0.98, $"{cluster.Simulation.Now - begun}");
    }

    [Fact]
    public void R_a_dispose_of_a_frozen_turn_waits_for_the_others_as_long_as_any_other()
    {
        using var cluster = new GroupCluster(64, 2);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var group = cluster[0].Group!;
        cluster[0].Membership.Deaf = true;
        Assert.InRange(EndsAfterFreeze(cluster, cluster[0], async () => await group.DisposeAsync()), TimeSpan.FromSeconds(2), TimeSpan.FromSeconds(5));
        Assert.IsType<NotMemberException>(group.Completion.Exception?.InnerException);
    }

    [Fact]
    public void R_a_join_of_a_frozen_turn_has_all_of_its_time()
    {
        using var cluster = new GroupCluster(65, 2) { HostOptions = new() { JoinTimeout = TimeSpan.FromSeconds(2) } };
        Assert.True(cluster.Settle());
        var host = cluster.Add().Host;
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        cluster[2].Membership.Deaf = true;
        Assert.InRange(EndsAfterFreeze(cluster, cluster[2], () => Assert.ThrowsAsync<JoinTimeoutException>(() => host.JoinAsync("other", static g => { }).AsTask())),
            TimeSpan.FromSeconds(2), TimeSpan.FromSeconds(5));
    }

    /// <summary>How long a call takes that is made 3 s after its process was frozen for 4 s in the middle of a turn.</summary>
    private static TimeSpan EndsAfterFreeze(GroupCluster cluster, TestMember member, Func<Task> call)
    {
        member.SimNode.PauseInTurn(TimeSpan.FromSeconds(4));
        cluster.Simulation.Run(TimeSpan.FromSeconds(3));
        var begun = cluster.Simulation.Now;
        bool over = false;
        _ = cluster.Simulation.Spawn(async () =>
        {
            await call();
            over = true;
        });
        Assert.True(cluster.Simulation.RunUntil(() => over, TimeSpan.FromSeconds(30)));
        return cluster.Simulation.Now - begun;
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-5)]
    public void R11_a_timeout_of_zero_or_less_is_refused_at_once(int milliseconds)
    {
        var cluster = Muted(62).Cluster;
        using var closing = cluster;
        var time = TimeSpan.FromMilliseconds(milliseconds);
        var group = cluster[0].Group!;
        foreach (var call in new Task[] { group.QueryAsync<int, int>("late", 7, timeout: time).AsTask(), group.QueryToAsync<int, int>(0, "late", 7, time).AsTask() })
        {
            var error = Assert.IsType<ArgumentOutOfRangeException>(call.Exception?.InnerException);
            Assert.Contains("InfiniteTimeSpan", error.Message, StringComparison.Ordinal);
        }
    }
}
