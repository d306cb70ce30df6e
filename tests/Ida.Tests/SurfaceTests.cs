using Ida.Testing;

namespace Ida.Tests;

/// <summary>The whole public surface of the DHT, drawn at random by careless callers while members come and go.</summary>
public sealed class SurfaceTests(ITestOutputHelper output)
{
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
