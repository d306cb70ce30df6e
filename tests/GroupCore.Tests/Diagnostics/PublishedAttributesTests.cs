using System.Diagnostics.Metrics;
using GroupCore.Diagnostics;

namespace GroupCore.Tests.Diagnostics;

/// <summary>A metrics listener is user code: if it throws, the instruments are made all the same.</summary>
public sealed class PublishedAttributesTests
{
    [Fact]
    public void A_listener_that_throws_as_it_hears_of_an_instrument_keeps_none_from_being_made()
    {
        using var meter = new Meter("thrown at");
        int heard = 0;
        using var throws = new MeterListener();
        throws.InstrumentPublished = (instrument, _) =>
        {
            // Tests that run in parallel have meters too.
            if (!ReferenceEquals(instrument.Meter, meter)) return;
            heard++;
            throw new InvalidOperationException("on purpose");
        };
        throws.Start();
        var set = new AttributeSet<string>("none",
            new("text.length", AttributeKind.Counter, "1", "its length", static text => text.Length),
            new("text.first", AttributeKind.Gauge, "1", "its first character", static text => text[0]),
            new("text.last", AttributeKind.UpDownCounter, "1", "its last character", static text => text[^1]));
        set.Publish(meter, static () => (Measured<string>[])[new("abc", [])]);
        Assert.Equal(3, heard);
        var measured = new SortedDictionary<string, long>(StringComparer.Ordinal);
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, listening) =>
        {
            if (ReferenceEquals(instrument.Meter, meter)) listening.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, _, _) => measured[instrument.Name] = value);
        listener.Start();
        listener.RecordObservableInstruments();
        Assert.Equal($"text.first {(int)'a'}, text.last {(int)'c'}, text.length 3", string.Join(", ", measured.Select(static one => $"{one.Key} {one.Value}")));
    }
}
