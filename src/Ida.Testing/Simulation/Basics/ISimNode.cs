using GroupCore.Transport;

namespace Ida.Testing;

/// <summary>One life of a node, as the carrier of its frames sees it.</summary>
internal interface ISimNode
{
    ISimulation Simulation { get; }

    SimHost Host { get; }

    ISimCarrier Carrier { get; }

    string Name { get; }

    NodeAddress Address { get; }

    ulong Id { get; }

    bool Alive { get; }

    long PausedUntil { get; }

    ulong ScheduleSeed { get; }

    /// <summary>Share of its writes to sockets that arrive with a bit flipped.</summary>
    double Damage { get; }

    /// <summary>Whether frames are asked about before they are sent (<see cref="MaySend"/>).</summary>
    bool IsWatched { get; }

    /// <summary>Makes sure that a turn of it follows.</summary>
    void Wake();

    /// <summary>To how many of its receivers a frame goes: to all, unless the node crashes at it.</summary>
    int MaySend(ReadOnlySpan<byte> frame, int receivers);
}
