using System.Diagnostics.Metrics;
using GroupCore.Diagnostics;

namespace GroupCore.Tests.Diagnostics;

/// <summary>A part declares each number that it reports about itself once; the meter, the description and the guide all take it from there.</summary>
public sealed class AttributeSetTests
{
    private static readonly AttributeSet<long[]> Set = new("node",
        new("test.calls", AttributeKind.Counter, "{call}", "Calls.", static source => source[0]),
        new("test.bytes", AttributeKind.UpDownCounter, "By", "Bytes.", static source => source[1], new("kind", "in")),
        new("test.bytes", AttributeKind.UpDownCounter, "By", "Bytes.", static source => source[2], new("kind", "out")),
        new("test.age", AttributeKind.Gauge, "ns", "Age.", static source => source[3]));

    [Fact]
    public void A_description_has_the_numbers_that_are_not_zero()
    {
        var text = new Description();
        Set.Describe(text, [3, 0, 7, 0]);
        Assert.Equal("test.calls: 3 {call}\ntest.bytes kind=out: 7 By\n", text.ToString());
    }

    [Fact]
    public void The_guide_has_a_row_for_each_name_with_its_tags() =>
        Assert.Equal(
        [
            "| `test.calls` | Counter | `{call}` | node | Calls. |",
            "| `test.bytes` | UpDownCounter | `By` | node, kind | Bytes. |",
            "| `test.age` | Gauge | `ns` | node | Age. |",
        ], Set.Rows());

    [Fact]
    public void The_meter_has_an_instrument_for_each_name_that_reads_all_sources_when_somebody_asks()
    {
        using var meter = new Meter("AttributeSetTests");
        var sources = new List<Measured<long[]>>();
        Set.Publish(meter, () => sources);
        using var listener = new MeterListener();
        var seen = new List<string>();
        listener.InstrumentPublished = (instrument, to) =>
        {
            if (instrument.Meter == meter) to.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) =>
            seen.Add($"{instrument.GetType().Name.Split('`')[0]} {instrument.Name} {value} {instrument.Unit} {string.Join(' ', tags.ToArray().Select(static tag => $"{tag.Key}={tag.Value}"))}"));
        listener.Start();
        listener.RecordObservableInstruments();
        Assert.Empty(seen);
        sources.Add(new([1, 2, 3, 4], [new("node", "a")]));
        sources.Add(new([5, 6, 7, 8], [new("node", "b")]));
        listener.RecordObservableInstruments();
        Assert.Equal(
        [
            "ObservableCounter test.calls 1 {call} node=a", "ObservableCounter test.calls 5 {call} node=b",
            "ObservableGauge test.age 4 ns node=a", "ObservableGauge test.age 8 ns node=b",
            "ObservableUpDownCounter test.bytes 2 By node=a kind=in", "ObservableUpDownCounter test.bytes 3 By node=a kind=out",
            "ObservableUpDownCounter test.bytes 6 By node=b kind=in", "ObservableUpDownCounter test.bytes 7 By node=b kind=out",
        ], seen.Order(StringComparer.Ordinal));
    }
}
