namespace Ida.Testing;

/// <summary>A simulation, as the carriers of frames between its nodes see it.</summary>
internal interface ISimulation
{
    SimulationOptions Options { get; }

    ISimNetwork Network { get; }

    /// <summary>Virtual time.</summary>
    long Time { get; }

    SimEventQueue Events { get; }

    PacketPool Packets { get; }

    /// <summary>What sockets do from now on.</summary>
    SocketModel Sockets { get; }

    /// <summary>How often sockets did each thing.</summary>
    SocketTally Tally { get; }

    ref TraceHash Trace { get; }

    SimHost? FindHost(string address);
}
