using Ida.Testing;
using Ida.Testing.Calls;

namespace Ida.Tests;

/// <summary>The whole public surface of the DHT: careless callers call it at random while members come and go.</summary>
public sealed class SurfaceTests(ITestOutputHelper output)
{
    /// <summary>Seeds that an earlier version of the code failed.</summary>
    [Theory]
    [InlineData(265)] // A put through two members never ended.
    [InlineData(286)] // A put that went on was given up for another one under its id, and forgotten.
    [InlineData(1380)] // A caller was told a version that was computed ahead, and never given.
    [InlineData(4351)] // One put through two members: each attempt was refused where the other was held, for ever.
    [InlineData(503577)] // A member that took over was told that a put was executed. That was another put under its id, and the member's own retry took it for its end.
    [InlineData(120030824)] // The code was right: the judge was wrong about an Ordered read whose place followed from a lost member's clock alone.
    [InlineData(1956916220)] // The code was right: in the simulation, a caller that went on as its node stopped ran a turn of the node, and calls were answered twice.
    public void A_seed_that_showed_a_defect_passes(int seed) => Assert.Null(DhtScenarios.Surface.Judge((ulong)seed));

    /// <summary>The time that user code takes from its member's turns is no time of a call; all other time is.</summary>
    [Fact]
    public void A_call_is_late_by_the_time_of_its_member()
    {
        var world = DhtWorld.Founded(4);
        var member = world.Members[0];
        var call = new SurfaceCall(CallKind.Put, "of a test", member, new TaskCompletionSource().Task, world.Now, TimeSpan.FromSeconds(1));
        member.Stall(TimeSpan.FromSeconds(5));
        world.Advance(TimeSpan.FromSeconds(8));
        Assert.False(call.IsLate);
        world.Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(call.IsLate);
    }

    [Fact]
    public void Without_the_check_of_expectations_a_schedule_is_not_strictly_serializable() =>
        Assert.True(DhtScenarios.Surface.FirstWithout(nameof(DhtRules.ExpectationsHold), nameof(Testing.Checking.AnomalyKind.NotSerializable), 500) is not null, "None of 500 schedules shows it.");

    [Fact]
    public void Without_the_agreement_on_maps_a_call_of_what_a_member_lacks_is_executed() =>
        Assert.True(DhtScenarios.Surface.FirstWithout(nameof(DhtRules.OnlyAgreedMaps), SurfaceMaps.ExecutedThoughLacked, 500) is not null, "None of 500 schedules shows it.");

    [Fact]
    public void D1_every_call_with_every_option_and_misuse_ends_in_time_and_is_strictly_serializable()
    {
        int runs = 0, lost = 0;
        var table = new IngredientTable();
        SimulationRunner.ForEachSeed(150, $"*{nameof(D1_every_call_with_every_option_and_misuse_ends_in_time_and_is_strictly_serializable)}", DhtScenarios.Surface.Case(done: run =>
        {
            runs++;
            if (run.Lost) lost++;
            table.Add(DhtScenarios.Surface, run);
        }));
        var text = new StringWriter();
        table.Print(text);
        output.WriteLine(text.ToString());
        Assert.True(lost * 5 <= runs, $"{lost} of {runs} schedules lost a shard and were not judged");
    }
}
