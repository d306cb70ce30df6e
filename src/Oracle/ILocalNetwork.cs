using GroupCore.Runtime;

namespace Oracle;

/// <summary>Datagrams from one process to all of its cluster on the local network. They may be lost, doubled, late, and anybody's.</summary>
internal interface ILocalNetwork
{
    /// <summary>
    /// Takes part from now on: <paramref name="heard"/> is called in turns of the node, with datagrams of others, and perhaps its own. What comes faster than the node takes it is lost.
    /// Ends with the node.
    /// </summary>
    void Open(INode node, Action<ReadOnlyMemory<byte>> heard);

    /// <summary>Whether it reaches processes of this machine only: others are not dialled, whatever datagrams say.</summary>
    bool IsOfMachine => false;

    /// <summary>Called every 100 ms, to take part on interfaces that have come up.</summary>
    void Step()
    {
    }

    /// <summary>Sends a datagram to all, this process included or not. Does not wait, and does not tell whether it was sent.</summary>
    void Send(ReadOnlyMemory<byte> datagram);
}
