namespace Ida;

/// <summary>Copies references to the entries of the slice.</summary>
internal sealed class SnapshotCommand(DhtLayer layer) : LoopCommand<LocalSlice>(layer.Node)
{
    protected override LocalSlice Ask()
    {
        var entries = new List<LocalEntry>();
        layer.Participant.Copy(entries);
        ulong digest = 0;
        foreach (var entry in entries) digest ^= StableHash.Of(entry.Key.Span, entry.Version) + StableHash.Of(entry.Value.Span, entry.Version);
        var state = layer.State;
        return new(state.View, state.Shard, state.Slot, state.Full, digest, entries);
    }
}
