using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Tests;

public sealed class HistogramTests
{
    [Fact]
    public void Every_value_is_kept_to_eight_tenths_of_a_percent()
    {
        for (long value = 1; value < 1L << 60; value += Math.Max(1, value / 37))
        {
            var histogram = new Histogram();
            histogram.Record(value);
            histogram.Record(long.MaxValue);
            Assert.InRange(histogram.Microseconds(0.5) * 1000, value * 0.992, value * 1.008);
        }
    }

    [Fact]
    public void Percentiles_are_those_of_the_sorted_samples()
    {
        var histogram = new Histogram();
        for (int i = 1; i <= 100_000; i++) histogram.Record(i * 1000L);
        Assert.Equal(100_000, histogram.Count);
        Assert.InRange(histogram.Microseconds(0.5), 49_600, 50_400);
        Assert.InRange(histogram.Microseconds(0.99), 98_200, 99_800);
        Assert.InRange(histogram.Microseconds(0.999), 99_100, 100_000);
        Assert.InRange(histogram.Microseconds(1), 99_200, 100_000);
    }

    [Fact]
    public void No_percentile_is_above_the_exact_maximum()
    {
        var histogram = new Histogram();
        histogram.Record(1_000_001);
        Assert.Equal(1000.001, histogram.Microseconds(1));
        Assert.Equal(1_000_001, histogram.Max);
    }

    [Fact]
    public void Nothing_recorded_has_no_percentile() => Assert.True(double.IsNaN(new Histogram().Microseconds(0.5)));

    [Fact]
    public void A_time_before_the_start_counts_as_none()
    {
        var histogram = new Histogram();
        histogram.Record(-5);
        Assert.Equal((1, 0, 0d), (histogram.Count, histogram.Max, histogram.Microseconds(1)));
    }

    [Fact]
    public void A_histogram_survives_the_way_to_the_driver_and_adds_up_there()
    {
        Histogram one = new(), two = new(), all = new();
        for (int i = 0; i < 1000; i++)
        {
            one.Record(i * i);
            two.Record(i * 77_777L);
            all.Record(i * i);
            all.Record(i * 77_777L);
        }
        var sum = Histogram.Decode(one.Encode());
        sum.Add(Histogram.Decode(two.Encode()));
        Assert.Equal(all.Encode(), sum.Encode());
        Assert.Equal(all.Count, sum.Count);
        Assert.Equal(all.Microseconds(0.9), sum.Microseconds(0.9));
    }
}
