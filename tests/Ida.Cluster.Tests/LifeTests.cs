using Ida.Testing;

namespace Ida.Cluster.Tests;

/// <summary>Faults that last as long as real ones, from the start of the nodes on. Programs are started again at the same address.</summary>
public sealed class LifeTests
{
    [Fact]
    public void I9_3_whatever_fails_for_however_long_histories_are_strictly_serializable_and_all_serve_again() =>
        SimulationRunner.ForEachSeed(40, $"*{nameof(I9_3_whatever_fails_for_however_long_histories_are_strictly_serializable_and_all_serve_again)}", ClusterScenarios.Lives.Case());

    [Fact]
    public void Over_the_mesh_histories_are_strictly_serializable_and_all_serve_again() => SimulationRunner.ForEachSeed(10, $"*{nameof(Over_the_mesh_histories_are_strictly_serializable_and_all_serve_again)}", ClusterScenarios.LivesOverMesh.Case());

    /// <summary>
    /// Seeds that the schedule once judged wrongly. 157: a node that starts while it is cut off founds a second system, as it may, and nothing of the first is lost. 224: a process
    /// crashed between two calls of its program. 396: a member excluded while it was held up, and told so a moment later, counted as serving. 1731: so did one that had lost its DHT.
    /// </summary>
    [Theory]
    [InlineData(157)]
    [InlineData(224)]
    [InlineData(396)]
    [InlineData(1731)]
    public void Seeds_that_once_failed(ulong seed) => Assert.Null(ClusterScenarios.Lives.Judge(seed));

    /// <summary>
    /// The schedule judged them wrongly. The first: a node was excluded, and so stopped, between the end of its start and its program's next look, and the program's join was told of
    /// the stop. The second: a system of two lost one by bad luck with dials in a long rest, the other gave way to the larger system, and both were judged as if they lived.
    /// </summary>
    [Theory]
    [InlineData(5100004879)]
    [InlineData(520018559)]
    public void Seeds_over_the_mesh_that_once_failed(ulong seed) => Assert.Null(ClusterScenarios.LivesOverMesh.Judge(seed));

    /// <summary>Programs that may have ended while all are at rest: one or two, by exclusion, where sockets may fail.</summary>
    [Theory]
    [InlineData(0, 0, false, true)]
    [InlineData(1, 1, false, false)]
    [InlineData(1, 1, true, true)]
    [InlineData(2, 2, true, true)]
    [InlineData(2, 1, true, false)]
    [InlineData(3, 3, true, false)]
    public void Bad_luck_with_sockets_ends_few_programs_at_rest(int ended, int excluded, bool mayFail, bool isRight) => Assert.Equal(isRight, RestLosses.Wrong(ended, excluded, mayFail) is null);

    [Fact]
    public void Faults_of_one_node_cluster_around_the_times_given()
    {
        var around = TimeSpan.FromSeconds(10);
        var plan = new FaultPlan { Nodes = 5, MaxFaults = 5, MaxDuration = TimeSpan.FromSeconds(1), Around = [around], OneNode = true, Swarms = true };
        int all = 0, near = 0;
        for (ulong seed = 1; seed <= 200; seed++)
        {
            var faults = FaultSchedule.Random(seed, plan).Faults;
            Assert.Contains(Enumerable.Range(0, 5), one => faults.All(fault => fault.Node == one || fault.Other == one || fault.Side.SequenceEqual([one])));
            all += faults.Count(static fault => fault.For > TimeSpan.Zero);
            near += faults.Count(fault => fault.For >= around * 0.66 && fault.For <= around * 1.34);
        }
        Assert.InRange(near, all * 0.4, all * 0.6);
    }
}
