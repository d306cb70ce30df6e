namespace Ida.Testing;

/// <content>The simulation as the carriers of its nodes see it.</content>
public sealed partial class Simulation : ISimulation
{
    ISimNetwork ISimulation.Network => Network;

    long ISimulation.Time => Time;

    SimEventQueue ISimulation.Events => Events;

    PacketPool ISimulation.Packets => Packets;

    SocketModel ISimulation.Sockets => Sockets;

    SocketTally ISimulation.Tally => Tally;

    ref TraceHash ISimulation.Trace => ref Trace;

    SimHost? ISimulation.FindHost(string address) => FindHost(address);

    /// <summary>The latest life at a host.</summary>
    internal static SimNode LatestAt(SimHost host) => (SimNode)host.Node!;
}
