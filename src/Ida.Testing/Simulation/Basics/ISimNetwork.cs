using GroupCore.Transport;

namespace Ida.Testing;

/// <summary>What goes wrong between hosts, as the carriers of frames see it.</summary>
internal interface ISimNetwork
{
    /// <summary>How the way from a host to another is cut; null where it is open.</summary>
    CutMode? CutBetween(SimHost from, SimHost to);

    /// <summary>Whether one way between two hosts has been cut for so long that a kernel gives up asking.</summary>
    bool IsCutLong(SimHost one, SimHost other);

    /// <summary>Whether a host answers dials of another.</summary>
    bool MayDial(SimHost from, SimHost to);

    /// <summary>How long something takes from a host to an address, or back; no node need be there.</summary>
    long Latency(ref Choices choices, SimHost host, NodeAddress address, bool toRemote);
}
