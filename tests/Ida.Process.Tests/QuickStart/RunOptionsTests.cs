using QuickStart;

namespace Ida.Process.Tests.QuickStart;

public sealed class RunOptionsTests
{
    [Theory]
    [InlineData(5, 2, 4, 2)]
    [InlineData(3, 2, 2, 1)]
    [InlineData(7, 3, 6, 2)]
    [InlineData(6, 2, 4, 2)]
    [InlineData(16, 5, 15, 3)]
    public void As_many_whole_shards_as_fit_and_one_spare_at_least(int members, int shardSize, int target, int shards)
    {
        Assert.True(RunOptions.TryParse($"{members}", $"{shardSize}", null, out var options, out _));
        Assert.Equal((target, shards), (options.TargetSize, options.Shards));
    }

    [Theory]
    [InlineData("2", null, null, "--members")]
    [InlineData("17", null, null, "--members")]
    [InlineData("five", null, null, "--members")]
    [InlineData("", null, null, "--members")]
    [InlineData(null, "1", null, "--shard-size")]
    [InlineData(null, "5", null, "--shard-size")]
    [InlineData(null, "2.5", null, "--shard-size")]
    [InlineData(null, null, "-1", "--seed")]
    [InlineData(null, null, "18446744073709551616", "--seed")]
    public void Nonsense_is_refused_with_one_line_that_names_the_option(string? members, string? shardSize, string? seed, string option)
    {
        Assert.False(RunOptions.TryParse(members, shardSize, seed, out _, out string error));
        Assert.StartsWith(option, error, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', error);
    }
}
