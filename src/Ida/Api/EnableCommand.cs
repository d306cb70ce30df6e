using Ida.Maps;

namespace Ida;

/// <summary>Enables the DHT on the loop.</summary>
internal sealed class EnableCommand(DhtHost host, DhtOptions options, DeclaredMaps maps, long clockOffset) : LoopCommand<Dht>(host.Node)
{
    protected override Dht Ask() => host.Enable(options, maps, clockOffset);
}
