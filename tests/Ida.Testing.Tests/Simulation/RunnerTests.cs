using System.Globalization;
using GroupCore.Runtime;
using GroupCore.Transport;

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
    public void What_each_simulation_of_a_run_leaves_is_told()
    {
        var run = new SimulationCase(1);
        var first = run.Start();
        var left = first.Slabs.Rent(1);
        var second = run.Start();
        var alsoLeft = second.Slabs.Rent(100_000);
        var thrown = Assert.Throws<AggregateException>(run.End);
        Assert.Equal([Message(alsoLeft), Message(left)], thrown.InnerExceptions.Select(static one => one.Message));
        alsoLeft.Release();
        left.Release();

        static string Message(Slab slab) => $"Nodes have ended and hold {slab.Bytes.Length} bytes of slabs.";
    }

    [Fact]
    public void A_failing_seed_is_reported_with_replay_command_and_shrunk_schedule()
    {
        var plan = new FaultPlan { Nodes = 3, MaxFaults = 15 };
        var thrown = Assert.Throws<SimulationFailedException>(() => SimulationRunner.ForEachSeed(500, "A.Test.Name", run => Fragile(run, plan)));
        var fault = Assert.Single(thrown.Shrunk!.Faults);
        Assert.True(fault.Kind is FaultKind.Crash or FaultKind.Vanish && fault.Node == 1);
        Assert.InRange(fault.For.TotalMilliseconds, 500, 1020);
        Assert.Contains(string.Create(CultureInfo.InvariantCulture, $"IDA_SEED={thrown.Seed} dotnet run --project tests/Ida.Testing.Tests -- --filter-method \"A.Test.Name\""), thrown.Message, StringComparison.Ordinal);
        Assert.Contains($"IDA_FAULTS=\"{fault}\"", thrown.Message, StringComparison.Ordinal);
        Assert.Contains("node 1 is down too long", thrown.Message, StringComparison.Ordinal);
        Assert.IsType<InvariantViolatedException>(thrown.InnerException);
    }

    [Fact]
    public void What_a_test_does_as_it_goes_is_shrunk_to_what_it_takes()
    {
        // Fails if both the third and the seventh thing happen.
        static void Body(SimulationCase run)
        {
            var happened = new List<int>();
            for (int i = 1; i <= 12; i++)
                if (run.Happens($"thing {i} of seed {run.Seed}")) happened.Add(i);
            if (happened.Contains(3) && happened.Contains(7)) throw new InvalidOperationException("3 and 7");
        }
        var failed = SimulationRunner.RunSeed(5, "A.Test.Name", "again 5", Body);
        Assert.Contains("Disturbances, shrunk from 12 to 2: #3 thing 3 of seed 5; #7 thing 7 of seed 5", failed!.Message, StringComparison.Ordinal);
        Assert.Contains("Replay shrunk: IDA_KEEP=\"3,7\" again 5", failed.Message, StringComparison.Ordinal);
        Assert.Null(new SeedRun(5, "", "", Body).Run(Reduction.Parse(null, "3,8")).Failure);
        Assert.NotNull(new SeedRun(5, "", "", Body).Run(Reduction.Parse(null, "7,3")).Failure);
        Assert.Empty(new SeedRun(5, "", "", Body).Run(Reduction.Parse(null, "none")).Happened);
    }

    [Fact]
    public void A_run_whose_nodes_throw_as_they_end_has_failed()
    {
        var failed = SimulationRunner.RunSeed(5, "A.Test.Name", "again 5", static run => run.Start().AddNode().Node.TryPost(new Stubborn()));
        Assert.NotNull(failed);
        Assert.Contains("failed for seed 5", failed.Message, StringComparison.Ordinal);
    }

    private sealed class Stubborn : NodeCommand
    {
        public override void Run()
        {
        }

        public override void Abandon(Exception reason) => throw new InvalidDataException("on purpose");
    }

    [Fact]
    public void A_model_without_a_simulation_is_compared_by_the_trace_it_gives()
    {
        ulong shared = 0;
        Assert.Null(SimulationRunner.RunSeed(1, "A.Test.Name", "again", run => run.Trace(1, run.Seed), twice: true));
        var failed = SimulationRunner.RunSeed(1, "A.Test.Name", "again", run => run.Trace(1, shared++), twice: true);
        Assert.Contains("differ", failed!.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void The_replay_command_names_the_project_from_the_root()
    {
        Assert.Equal("tests/Ida.Testing.Tests", ReplayCommand.Project(AppContext.BaseDirectory));
        Assert.Equal(".", ReplayCommand.Project(Path.GetPathRoot(AppContext.BaseDirectory)!));
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
    [InlineData("0")]
    [InlineData("1,")]
    [InlineData("two")]
    public void Nonsense_to_keep_is_refused(string kept) => Assert.Contains("IDA_KEEP", Assert.Throws<FormatException>(() => Reduction.Parse(null, kept)).Message, StringComparison.Ordinal);

    [Theory]
    [InlineData("x", null)]
    [InlineData(null, "9-1")]
    [InlineData(null, "1-")]
    public void Nonsense_in_the_environment_is_refused(string? one, string? many) =>
        Assert.Throws<FormatException>(() => SeedRange.Choose(9, one, many));
}
