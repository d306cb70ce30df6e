namespace Ida.Tests;

/// <summary>What a campaign says about how often its schedules drew what they can draw.</summary>
public sealed class IngredientsTests
{
    private const string Common = "common", Rare = "rare", Never = "never";

    [Fact]
    public void An_ingredient_that_fewer_than_one_seed_in_a_hundred_draws_is_named()
    {
        var table = Table(1_000);
        Assert.Equal([Never, Rare], table.Rare);
        var text = new StringWriter();
        table.Print(text);
        Assert.Contains("100.0 % of    1000      2000  common", text.ToString(), StringComparison.Ordinal);
        Assert.Contains("0.9 % of    1000         9  BELOW 1 %:  rare", text.ToString(), StringComparison.Ordinal);
        Assert.Contains("0.0 % of    1000         0  BELOW 1 %:  never", text.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Too_few_seeds_say_nothing_about_a_share() => Assert.Empty(Table(999).Rare);

    [Fact]
    public void An_ingredient_that_is_not_declared_cannot_be_drawn()
    {
        var ingredients = new Ingredients([Common]);
        Assert.True(ingredients.Allows(Common));
        Assert.False(ingredients.Allows(Rare));
        Assert.Throws<InvalidOperationException>(() => ingredients.Draw(Rare));
    }

    private static IngredientTable Table(int seeds)
    {
        var scenario = new Scenario("test", static _ => { }) { Ingredients = [Common, Rare, Never] };
        var table = new IngredientTable();
        for (int seed = 0; seed < seeds; seed++)
        {
            var run = new ScenarioRun(new((ulong)seed), scenario);
            run.Ingredients.Draw(Common);
            run.Ingredients.Draw(Common);
            if (seed < 9) run.Ingredients.Draw(Rare);
            table.Add(scenario, run);
        }
        return table;
    }
}
