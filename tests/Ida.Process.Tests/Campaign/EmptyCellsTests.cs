using Ida.Campaign;
using Ida.Scenarios;
using Ida.Testing.Calls;

namespace Ida.Process.Tests.Campaign;

/// <summary>A cell of the table of calls that stays empty fails the campaign of a whole suite, if the campaign had enough seeds to fill it.</summary>
public sealed class EmptyCellsTests
{
    [Theory]
    [InlineData(49_999, true, false)]
    [InlineData(50_000, true, true)]
    [InlineData(50_000, false, false)]
    public void What_is_named_fails_a_campaign_of_many_seeds(long seeds, bool named, bool fails) => Assert.Equal(fails, EmptyCells.MustBeNone(named ? ["Send: ExcludedException"] : [], seeds));

    [Fact]
    public void A_call_that_never_ends_in_a_way_that_the_guide_says_is_named_and_what_is_declared_is_not()
    {
        var table = new CallTable();
        table.Begin(CallKind.Send);
        string line = Assert.Single(EmptyCells.Lines(table, Suite.Groups), static line => line.StartsWith("Send:", StringComparison.Ordinal));
        Assert.Contains("ExcludedException", line, StringComparison.Ordinal);
        Assert.DoesNotContain("GroupOverloadedException", line, StringComparison.Ordinal);
    }
}
