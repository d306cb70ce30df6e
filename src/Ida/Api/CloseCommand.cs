namespace Ida;

/// <summary>Leaves the DHT.</summary>
internal sealed class CloseCommand(DhtLayer layer) : LoopCommand<bool>
{
    protected override bool Ask()
    {
        layer.Close();
        return true;
    }
}
