using Ida.Ordering;

namespace Ida;

/// <summary>Asks for a cut of the slice.</summary>
internal sealed class SnapshotCommand(DhtLayer layer) : LoopCommand<SliceCut>(layer.Node)
{
    public override void Run() => layer.Snapshot(this);

    protected override SliceCut Ask() => throw new InvalidOperationException("It is answered when the cut is whole.");
}
