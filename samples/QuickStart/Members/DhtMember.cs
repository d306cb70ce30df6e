using System.Diagnostics;
using GroupCore.Groups;
using GroupCore.Membership;
using Ida;
using QuickStart.Checks;
using QuickStart.Data;
using QuickStart.Protocol;

namespace QuickStart.Members;

/// <summary>All calls of this program to Ida: a node, a group, a DHT with three maps.</summary>
internal sealed class DhtMember : IAsyncDisposable
{
    private readonly CancellationTokenSource _disposed = new();
    private readonly EventWriter _events;
    private readonly IdaNode _node;
    private readonly Group _group;
    private Dht _dht = null!;
    private DhtMap<string, Zone> _zones = null!;
    private DhtMap<string, string[]> _countries = null!;
    private DhtMap<string, int> _continents = null!;

    private DhtMember(EventWriter events, IdaNode node, Group group) => (_events, _node, _group) = (events, node, group);

    public string Address => _node.Address.Text;

    public static async Task<DhtMember> StartAsync(StartCommand start, EventWriter events)
    {
        var node = await IdaNode.StartAsync(new() { Cluster = start.Cluster, Seeds = start.Seeds, Tag = start.Name });
        var group = await node.JoinAsync("zones", g => g.OnView(view => events.Write(ToEvent(view))));
        return new(events, node, group);
    }

    public async Task EnableAsync(EnableCommand enable)
    {
        _dht = await _group.EnableDhtAsync(new() { ShardSize = enable.ShardSize, TargetSize = enable.TargetSize }, d =>
        {
            d.Map<string, Zone>("zones");
            d.Map<string, string[]>("countries").OnMerge<string>(Resolvers.Append);
            d.Map<string, int>("continents").OnMerge<int>(Resolvers.Add);
        });
        _zones = _dht.Map<string, Zone>("zones");
        _countries = _dht.Map<string, string[]>("countries");
        _continents = _dht.Map<string, int>("continents");
        _ = Task.Run(WatchSlotAsync);
    }

    /// <summary>The atomic put: stores the row, appends its name to the list of each of its countries, and adds one to its continent's counter.</summary>
    public async Task StoreAsync(Zone row)
    {
        var batch = _dht.NewBatch().Put(_zones, row.Name, row);
        foreach (string country in ZoneTable.CountriesOf(row)) batch.Merge(_countries, country, row.Name);
        batch.Merge(_continents, ZoneTable.ContinentOf(row), 1);
        await batch.CommitAsync();
    }

    public async Task<bool> HasAsync(Zone row) => (await _zones.GetAsync(row.Name)).Found;

    /// <summary>Reads all keys of a cut at one point of the order.</summary>
    public async Task<CutResult> ReadAsync(Cut cut)
    {
        var reading = _dht.NewReading();
        var rows = cut.Rows.Select(row => (row.Name, Cell: reading.Add(_zones, row.Name))).ToList();
        var lists = cut.Countries.Select(country => (Country: country, Cell: reading.Add(_countries, country))).ToList();
        var counters = cut.Continents.Select(continent => (Continent: continent, Cell: reading.Add(_continents, continent))).ToList();
        await reading.RunAsync();
        return new(
            rows.Where(r => r.Cell.Entry.Found).ToDictionary(r => r.Name, r => r.Cell.Value),
            lists.Where(l => l.Cell.Entry.Found).ToDictionary(l => l.Country, l => l.Cell.Value),
            counters.Where(c => c.Cell.Entry.Found).ToDictionary(c => c.Continent, c => c.Cell.Value));
    }

    /// <summary>The number of entries in this member's replica, and their digest.</summary>
    public async Task<VerifiedEvent> DescribeAsync(string? fault, int rows)
    {
        var slice = await _dht.SnapshotAsync();
        return new(fault, rows, slice.Slot, slice.Shard, slice.Entries.Count, $"{slice.Digest:x16}");
    }

    public async ValueTask DisposeAsync()
    {
        await _disposed.CancelAsync();
        await _node.DisposeAsync();
        _disposed.Dispose();
    }

    /// <summary>Tells the conductor after each view which slot this member has, and when it holds the complete state.</summary>
    private async Task WatchSlotAsync()
    {
        await foreach (var _ in _group.Views(_disposed.Token))
        {
            if (await TellSlotAsync()) continue;
            await _dht.WhenInitialisedAsync(_disposed.Token);
            await TellSlotAsync();
        }
    }

    private async Task<bool> TellSlotAsync()
    {
        var status = await _dht.StatusAsync();
        _events.Write(new SlotEvent(Stopwatch.GetTimestamp(), status.View, status.OwnSlot, status.OwnSlot % status.Shards, status.IsInitialised));
        return status.IsInitialised;
    }

    private static ViewEvent ToEvent(View view) => new(Stopwatch.GetTimestamp(), view.Id, [.. view.Members.Select(m => m.Tag)]);
}
