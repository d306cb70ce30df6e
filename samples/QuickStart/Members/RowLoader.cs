using System.Diagnostics;
using QuickStart.Data;
using QuickStart.Protocol;

namespace QuickStart.Members;

/// <summary>Stores rows at a given pace, one put per row. Rows that are late, as after a view change, are stored without a pause.</summary>
internal sealed class RowLoader(DhtMember member, ZoneTable table, KnownRows known, EventWriter events)
{
    public async Task RunAsync(LoadCommand load)
    {
        for (int i = 0; i < load.Rows.Length; i++)
        {
            await UntilAsync(load.StartAt + (i * load.Interval));
            var row = table.Rows[load.Rows[i]];
            long began = Stopwatch.GetTimestamp();
            // Only one process at a time is in charge of a row: its former owner is dead and excluded, so no other put comes between this read and the store.
            bool found = load.LookFirst && await member.HasAsync(row);
            if (!found) await member.StoreAsync(row);
            long now = Stopwatch.GetTimestamp();
            known.Add(row.Name);
            events.Write(new StoredEvent(now, load.Rows[i], now - began, found));
        }
    }

    private static async Task UntilAsync(long at)
    {
        var left = Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), at);
        if (left > TimeSpan.Zero) await Task.Delay(left);
    }
}
