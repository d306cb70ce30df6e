using GroupCore.Groups;
using Ida.Campaign;
using Ida.Scenarios;
using Ida.Testing.Checking;

namespace Ida.Process.Tests.Campaign;

/// <summary>A left-out rule counts as noticed if a failure names the anomaly that the lack of the rule causes, and nothing fails with all rules.</summary>
public sealed class MutationsTests
{
    private const string Rule = nameof(GroupRules.R5LongestOrder);

    [Theory]
    [InlineData($"FAILED (2 violations)\n{nameof(GroupGuarantee.Integrity)} at 1 in view 2\n{nameof(GroupGuarantee.TotalOrder)} at 1 in view 2", false, true)]
    [InlineData($"FAILED (1 violations)\n{nameof(GroupGuarantee.NoLoss)} at 1 in view 2", false, false)]
    [InlineData($"FAILED (1 violations)\n{nameof(GroupGuarantee.TotalOrder)} at 1 in view 2", true, false)]
    [InlineData(null, false, false)]
    public void What_a_failure_must_say_is_the_anomaly_of_the_rule(string? violation, bool always, bool noticed)
    {
        var scenario = new Scenario("made", run => ScenarioFailedException.ThrowIf(always || run.Without == Rule ? violation : null));
        var mutations = new Mutations(new(Suite.Groups, 1, 3, scenario, [Rule], null, false));
        Assert.Equal(noticed ? (1L, 0L) : (0L, 1L), mutations.Run(TestContext.Current.CancellationToken));
    }

    [Fact]
    public void Each_rule_has_a_scenario_of_its_suite_and_an_anomaly()
    {
        foreach (var suite in Suite.All)
        {
            var rules = MutationTable.RulesOf(suite);
            Assert.Equal(rules.Count, rules.Distinct().Count());
            Assert.All(rules, rule =>
            {
                Assert.Contains(MutationTable.Of(suite, rule).Likely, suite.Scenarios);
                Assert.NotEmpty(MutationTable.Of(suite, rule).Anomaly);
            });
        }
    }
}
