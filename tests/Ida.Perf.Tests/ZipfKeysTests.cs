using Ida.Perf.Macro.Members;

namespace Ida.Perf.Tests;

public sealed class ZipfKeysTests
{
    [Fact]
    public void Keys_have_shares_in_proportion_to_the_power_of_their_rank()
    {
        var keys = new ZipfKeys(3);
        double second = Math.Pow(2, -0.99), sum = 1 + second + Math.Pow(3, -0.99);
        Assert.Equal([0, 0, 1, 1, 2, 2], new[] { 0, (1 / sum) - 1e-9, (1 / sum) + 1e-9, ((1 + second) / sum) - 1e-9, ((1 + second) / sum) + 1e-9, 1 - 1e-9 }.Select(keys.At));
    }
}
