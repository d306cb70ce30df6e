using Ida.Maps;

namespace Ida;

/// <summary>Copies the slots, and which maps can be used.</summary>
internal sealed class StatusCommand(DhtLayer layer) : LoopCommand<DhtStatus>(layer.Node)
{
    public override void Run()
    {
        if (layer.Ended is { } reason) Fail(reason);
        else base.Run();
    }

    protected override DhtStatus Ask()
    {
        var state = layer.State;
        var slots = new List<DhtSlot>();
        for (int slot = 0; slot < (state.Map?.SlotCount ?? 0); slot++)
        {
            int rank = state.Map!.RankOfSlot(slot);
            if (rank >= 0) slots.Add(new(slot, slot % state.Map.Shards, rank, state.Map.Slots[slot].Member, state.Map.IsInitialised(slot)));
        }
        return new(state.View, state.Slot, state.Initialised, layer.Shards, slots, [.. state.Maps.All.Select(StatusOf)]);
    }

    private DhtMapStatus StatusOf(DeclaredMap map)
    {
        var (entries, bytes) = layer.Participant.Slice.Table.Sizes.Of(map.Id);
        return new(map.Name, map.LackedBy, [.. map.Resolvers.Select(static one => new DhtResolverStatus(one.Incoming, one.LackedBy))]) { Entries = entries, Bytes = bytes };
    }
}
