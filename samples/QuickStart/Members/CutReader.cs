using System.Diagnostics;
using QuickStart.Checks;
using QuickStart.Data;
using QuickStart.Protocol;

namespace QuickStart.Members;

/// <summary>Reads one cut after the other until it is told to be quiet, and checks each.</summary>
internal sealed class CutReader(DhtMember member, ZoneTable table, KnownRows known, EventWriter events, int seed)
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan Gap = TimeSpan.FromMilliseconds(25);
    private const int MostFaults = 10;
    private static readonly TimeSpan ProgressEvery = TimeSpan.FromMilliseconds(100);

    private readonly Random _random = new(seed);
    private long _count;
    private long _keys;
    private int _faults;

    public async Task RunAsync(CancellationToken quiet)
    {
        long last = Stopwatch.GetTimestamp(), reported = last;
        while (!quiet.IsCancellationRequested)
        {
            await ReadOneAsync();
            long now = Stopwatch.GetTimestamp();
            if (Stopwatch.GetElapsedTime(last, now) > Gap) events.Write(new GapEvent(last, now));
            if (Stopwatch.GetElapsedTime(reported, now) > ProgressEvery)
            {
                events.Write(new ReadsEvent(_count, _keys));
                reported = now;
            }
            last = now;
            await Task.Delay(Pause, CancellationToken.None);
        }
        events.Write(new QuietEvent(_count, _keys));
    }

    private async Task ReadOneAsync()
    {
        var cut = NextCut();
        var before = known.Of(cut);
        var read = await member.ReadAsync(cut);
        _count++;
        _keys += cut.Keys;
        if ((CutCheck.FirstFault(cut, read) ?? CutCheck.FirstStale(cut, read, before.Contains)) is { } fault)
            Report($"read of {cut.Name}: {fault}");
        foreach (string name in read.Rows.Keys) known.Add(name);
    }

    private void Report(string fault)
    {
        if (++_faults <= MostFaults) events.Write(new FaultEvent(fault));
    }

    /// <summary>Mostly a small cut; one time in eight a whole continent.</summary>
    private Cut NextCut() => _random.Next(8) == 0
        ? Cut.OfContinent(table, table.Continents[_random.Next(table.Continents.Count)])
        : Cut.OfCountry(table, table.Countries[_random.Next(table.Countries.Count)]);
}
