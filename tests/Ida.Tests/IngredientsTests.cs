namespace Ida.Tests;

/// <summary>What a campaign says about how often its schedules drew each ingredient.</summary>
public sealed class IngredientsTests
{
    private const string Common = "common", Rare = "rare", Never = "never";

    [Fact]
    public void An_ingredient_that_clearly_fewer_than_one_seed_in_a_hundred_draws_is_named()
    {
        var table = Table(10_000, 55);
        Assert.Equal([Never, Rare], table.Rare);
        var text = new StringWriter();
        table.Print(text);
        Assert.Contains("100.0 % of   10000     20000  common", text.ToString(), StringComparison.Ordinal);
        Assert.Contains("0.6 % of   10000        55  BELOW 1 %:  rare", text.ToString(), StringComparison.Ordinal);
        Assert.Contains("0.0 % of   10000         0  BELOW 1 %:  never", text.ToString(), StringComparison.Ordinal);
    }

    /// <summary>Counts that an ingredient of exactly 1 % stays within with a probability above 10⁻⁶; and the next count or number of seeds, with which it does not.</summary>
    [Theory]
    [InlineData(1_374, 0, false)]
    [InlineData(1_375, 0, true)]
    [InlineData(1_375, 1, false)]
    [InlineData(2_000, 2, true)]
    [InlineData(2_000, 3, false)]
    [InlineData(3_000, 7, true)]
    [InlineData(3_000, 8, false)]
    [InlineData(10_000, 55, true)]
    [InlineData(10_000, 56, false)]
    public void An_ingredient_of_one_in_a_hundred_is_named_once_in_a_million_campaigns(int seeds, int drawn, bool named) =>
        Assert.Equal(named, Table(seeds, drawn).Rare.Contains(Rare));

    [Theory]
    [InlineData(10_000, 151, false)]
    [InlineData(10_000, 152, true)]
    [InlineData(10_000, 0, false)]
    public void Bad_luck_that_clearly_more_than_its_share_of_seeds_have_is_named(int seeds, int drawn, bool named)
    {
        var table = Table(seeds, drawn, most: 0.01);
        Assert.Equal(named ? [Rare] : [], table.TooOften);
        Assert.DoesNotContain(Rare, table.Rare);
    }

    /// <summary>The expected figures are sums of exact fractions.</summary>
    [Theory]
    [InlineData(0, 1_000, 0.01, 4.317124741065825e-05)]
    [InlineData(9, 1_000, 0.01, 4.573005921748908e-01)]
    [InlineData(0, 1_375, 0.01, 9.963056005479351e-07)]
    [InlineData(1, 1_700, 0.01, 6.906003348402621e-07)]
    [InlineData(1, 3, 0.5, 0.5)]
    [InlineData(2, 3, 0.5, 0.875)]
    [InlineData(3, 3, 0.5, 1)]
    [InlineData(854, 100_000, 0.01, 1.08284595673462e-06)]
    public void The_probability_of_few_hits_is_that_of_the_binomial_distribution(long hits, long trials, double share, double expected) =>
        Assert.Equal(1, BinomialTail.AtMost(hits, trials, share) / expected, 1e-9);

    [Fact]
    public void An_ingredient_that_is_not_declared_cannot_be_drawn()
    {
        var ingredients = new Ingredients([Common]);
        Assert.True(ingredients.Allows(Common));
        Assert.False(ingredients.Allows(Rare));
        Assert.Throws<InvalidOperationException>(() => ingredients.Draw(Rare));
    }

    private static IngredientTable Table(int seeds, int drawn, double? most = null)
    {
        var scenario = new Scenario("test", static _ => { }) { Ingredients = most is null ? [Common, Rare, Never] : [Common, Never] };
        if (most is { } share) scenario = scenario with { Seldom = new Dictionary<string, double> { [Rare] = share } };
        var table = new IngredientTable();
        for (int seed = 0; seed < seeds; seed++)
        {
            var run = new ScenarioRun(new((ulong)seed), scenario);
            run.Ingredients.Draw(Common);
            run.Ingredients.Draw(Common);
            if (seed < drawn) run.Ingredients.Draw(Rare);
            table.Add(scenario, run);
        }
        return table;
    }
}
