namespace Ida.Testing;

/// <content>The node as the carrier of its frames sees it.</content>
public sealed partial class SimNode : ISimNode
{
    ISimulation ISimNode.Simulation => Simulation;

    SimHost ISimNode.Host => Host;

    ISimCarrier ISimNode.Carrier => Carrier;

    long ISimNode.PausedUntil => PausedUntil;

    ulong ISimNode.ScheduleSeed => ScheduleSeed;

    double ISimNode.Damage => Damage;

    bool ISimNode.IsWatched => IsWatched;

    void ISimNode.Wake() => Wake();

    int ISimNode.MaySend(ReadOnlySpan<byte> frame, int receivers) => MaySend(frame, receivers);
}
