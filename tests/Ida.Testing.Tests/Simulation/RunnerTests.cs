using System.Globalization;

namespace Ida.Testing.Tests;

public sealed class RunnerTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    // Fails when node 1 is down for half a second after second 1, in seeds that draw that.
    private static void Fragile(SimulationCase run, FaultPlan plan)
    {
        var simulation = run.Start();
        _ = new Mesh(simulation, 3, TimeSpan.FromMilliseconds(20));
        int downAt = -1;
        simulation.AddInvariant("node 1 is up", () =>
        {
            if (simulation.Hosts[1].Node!.Alive) downAt = -1;
            else if (downAt < 0) downAt = (int)simulation.Now.TotalMilliseconds;
            else if (simulation.Now.TotalMilliseconds - downAt > 500) return "node 1 is down too long";
            return null;
        });
        run.Faults(plan).Inject(simulation, Chatter.Attach);
        simulation.Run(5 * Second);
    }

    [Fact]
    public void A_failing_seed_is_reported_with_replay_command_and_shrunk_schedule()
    {
        var plan = new FaultPlan { Nodes = 3, MaxFaults = 15 };
        var thrown = Assert.Throws<SimulationFailedException>(() => SimulationRunner.ForEachSeed(500, "A.Test.Name", run => Fragile(run, plan)));
        var fault = Assert.Single(thrown.Shrunk!.Faults);
        Assert.True(fault.Kind is FaultKind.Crash or FaultKind.Vanish && fault.Node == 1);
        Assert.InRange(fault.For.TotalMilliseconds, 500, 1020);
        Assert.Contains(string.Create(CultureInfo.InvariantCulture, $"IDA_SEED={thrown.Seed} dotnet test --filter-method \"A.Test.Name\""), thrown.Message, StringComparison.Ordinal);
        Assert.Contains($"IDA_FAULTS=\"{fault}\"", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("node 1 is down too long", thrown.Message, StringComparison.Ordinal);
        Assert.IsType<InvariantViolatedException>(thrown.InnerException);
    }

    [Fact]
    public void All_seeds_run_and_each_once_but_the_first()
    {
        if (Environment.GetEnvironmentVariable("IDA_SEED") is not null || Environment.GetEnvironmentVariable("IDA_SEEDS") is not null) return;
        var seeds = new List<ulong>();
        SimulationRunner.ForEachSeed(5, "A.Test.Name", run =>
        {
            seeds.Add(run.Seed);
            Assert.Equal(run.Seed, run.Start().Seed);
        });
        Assert.Equal([1, 1, 2, 3, 4, 5], seeds);
    }

    [Fact]
    public void A_test_that_depends_on_more_than_its_seed_is_found_out()
    {
        int shared = 0;
        var thrown = Assert.Throws<SimulationFailedException>(() => SimulationRunner.ForEachSeed(3, "A.Test.Name", run =>
        {
            var simulation = run.Start();
            simulation.After(TimeSpan.FromMilliseconds(shared++), () => { });
            simulation.Run(Second);
        }));
        Assert.Contains("differ", thrown.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(null, null, 1, 9)]
    [InlineData("77", "5", 77, 77)]
    [InlineData("0xff", null, 255, 255)]
    [InlineData(null, "1000", 1, 1000)]
    [InlineData("", "1001-2000", 1001, 2000)]
    public void The_environment_chooses_seeds(string? one, string? many, ulong first, ulong last) =>
        Assert.Equal(new SeedRange(first, last), SeedRange.Choose(9, one, many));

    [Theory]
    [InlineData("x", null)]
    [InlineData(null, "9-1")]
    [InlineData(null, "1-")]
    public void Nonsense_in_the_environment_is_refused(string? one, string? many) =>
        Assert.Throws<FormatException>(() => SeedRange.Choose(9, one, many));
}
