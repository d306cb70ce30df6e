using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Ida.Exiting;

/// <summary>Listeners of meters and traces that throw or never return, from the library's first instrument and source on.</summary>
internal static class Listeners
{
    private static MeterListener? s_meters;
    private static ActivityListener? s_traces;

    /// <summary>Begins to listen, if that is what happens.</summary>
    public static bool TryAdd(string happens)
    {
        switch (happens)
        {
            case "listeners throw":
                Add(Throw, Throw);
                return true;
            case "a listener of meters blocks":
                Add(Block, static () => { });
                return true;
            case "a listener of traces blocks":
                Add(static () => { }, Block);
                return true;
            default:
                return false;
        }
    }

    /// <summary>Calls of each kind that is traced, in another group; and another node, whose instruments are the same.</summary>
    public static async Task WorkAsync(IdaNode node)
    {
        var group = await node.JoinAsync("work", static g => g.Handle<string>("say", static (_, _) => { }));
        await group.SendAsync("say", "hello");
        await group.OrderedSendAsync("say", "hello");
        var dht = await group.EnableDhtAsync(new() { ShardSize = 1, TargetSize = 1 }, static maps => maps.Map<string, int>("m"));
        await dht.Map<string, int>("m").PutAsync("key", 1);
        await using var other = await IdaNode.StartAsync(new() { Cluster = "other", Listen = "127.0.0.1:0" });
    }

    /// <summary>How many meters of the library have instruments that a well-behaved listener can measure.</summary>
    public static int Instruments()
    {
        var meters = new SortedSet<string>(StringComparer.Ordinal);
        using var listener = new MeterListener();
        listener.InstrumentPublished = static (instrument, listening) =>
        {
            if (IsOwn(instrument.Meter.Name)) listening.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<long>((instrument, _, _, _) => meters.Add(instrument.Meter.Name));
        listener.Start();
        listener.RecordObservableInstruments();
        return meters.Count;
    }

    private static void Add(Action onInstrument, Action onSource)
    {
        s_meters = new()
        {
            InstrumentPublished = (instrument, _) =>
            {
                if (IsOwn(instrument.Meter.Name)) onInstrument();
            },
        };
        s_meters.Start();
        s_traces = new()
        {
            ShouldListenTo = source =>
            {
                if (IsOwn(source.Name)) onSource();
                return false;
            },
        };
        ActivitySource.AddActivityListener(s_traces);
    }

    private static bool IsOwn(string name) => name is "Ida" or "Ida.GroupCore" or "Ida.Oracle";

    private static void Throw() => throw new InvalidOperationException("on purpose");

    private static void Block() => Thread.Sleep(Timeout.Infinite);
}
