using GroupCore.Diagnostics;
using GroupCore.Membership;
using Ida.Maps;
using Ida.Placement;

namespace Ida;

/// <summary>The state of this member's part as text for a person.</summary>
internal sealed partial class DhtLayer
{
    /// <summary>Inside a turn.</summary>
    public void Describe(Description text)
    {
        text.Open($"DHT: {Standing()}{(IsLeaving ? "; this member leaves it" : "")}{(_state.Blocked ? "; blocked" : "")}{(_state.Wedged ? "; wedged" : "")}");
        if (_state.Map is { } map)
        {
            text.Line($"this member: slot {_state.Slot}, shard {_state.Shard}, {(_state.Initialised ? "with its state" : $"without its state, {_sink.WantedCount} keys asked for")}; it {(_state.CanAnswer ? "may" : "may not")} answer reads");
            text.List(Enumerable.Range(0, Shards), Shards, (text, shard) => DescribeShard(text, map, shard));
            DescribeMaps(text);
        }
        DhtAttributes.All.Describe(text, this);
        Coordinator.Describe(text);
        _participant.Describe(text);
        text.Close();
    }

    private void DescribeMaps(Description text)
    {
        List<Declared> lacking = [.. _state.Maps.All.SelectMany(static map => map.Resolvers.Where(_ => map.LackedBy is null).Prepend<Declared>(map)).Where(static one => one.LackedBy is not null)];
        text.Open($"maps declared here: {_state.Maps.All.Count}; {(lacking.Count == 0 ? "all can be used" : $"what other members do not declare cannot be used: {lacking.Count}")}");
        text.List(lacking, lacking.Count, (text, one) => text.Line($"{one.Text}: not declared at {AddressOf(one.LackedBy!.Value)}"));
        List<(DeclaredMap Map, long Entries, long Bytes)> sizes = [.. _state.Maps.All.Select(map => (map, _participant.Slice.Table.Sizes.Of(map.Id).Entries, _participant.Slice.Table.Sizes.Of(map.Id).Bytes)).Where(static one => one.Entries > 0).OrderByDescending(static one => one.Bytes)];
        text.List(sizes, sizes.Count, static (text, one) => text.Line($"{one.Map.Text}: {one.Entries} entries here, {one.Bytes} bytes of keys and values"));
        text.Close();
    }

    private string AddressOf(ProcessId member)
    {
        foreach (var one in _state.Port.View?.Members ?? [])
            if (one.Id == member) return $"{one.Address}";
        return $"{member}";
    }

    private string Standing()
    {
        if (Ended is { } reason) return $"over: {reason.Message}";
        if (_incarnation == 0) return _enabled < 0 ? "waits for a view with this member in it" : $"not founded: {_enabled} members have enabled it, for {Shards} shards";
        return $"founded in view {_incarnation}, {Shards} shards";
    }

    private static void DescribeShard(Description text, ShardMap map, int shard)
    {
        var slots = map.Members(shard);
        int initialised = 0;
        foreach (ushort slot in slots)
            if (map.IsInitialised(slot)) initialised++;
        int holes = 0;
        for (int slot = shard; slot < map.SlotCount; slot += map.Shards)
            if (!map.Slots[slot].Taken) holes++;
        text.Line($"shard {shard}: {slots.Length} members, {initialised} with the state, {holes} holes");
    }
}
