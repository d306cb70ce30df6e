namespace Ida;

/// <summary>Leaves the DHT.</summary>
internal sealed class CloseCommand(DhtLayer layer) : LoopCommand<bool>(layer.Node)
{
    protected override bool Ask()
    {
        layer.BeginLeaving(group: false);
        return true;
    }
}
