using GroupCore.Runtime;
using GroupCore.Transport;
using Ida.Testing;
using Oracle;
using Oracle.Frames;

namespace Ida.Scenarios;

/// <summary>Multicast on the network of a simulation: datagrams are lost where a way is cut, and at random.</summary>
internal sealed class SimLan(Simulation simulation, Prng random)
{
    private readonly List<(SimNode Node, Action<ReadOnlyMemory<byte>> Heard)> _members = [];

    /// <summary>Which share of the datagrams is lost on the way to each receiver.</summary>
    public double Loss { get; set; }

    public TimeSpan Slowest { get; set; } = TimeSpan.FromMilliseconds(1);

    public long Sent { get; private set; }

    /// <summary>Where a node takes part.</summary>
    public ILocalNetwork Of(SimNode node) => new End(this, node);

    /// <summary>Sends a datagram to all; a null sender is somebody who is no node.</summary>
    public void Send(SimNode? from, byte[] datagram)
    {
        Sent++;
        foreach (var (node, heard) in _members)
        {
            if (!node.Alive || random.Chance(Loss) || (from is not null && from != node && !simulation.Network.IsOpen(from, node))) continue;
            simulation.After(TimeSpan.FromTicks(random.Next(1, 1 + Slowest.Ticks)), () =>
            {
                if (node.Alive) node.Post(() => heard(datagram));
            });
        }
    }

    /// <summary>Sends what somebody says of a node that need not exist.</summary>
    public void Say(string cluster, ulong node, string address, bool asks, SystemId system = default) =>
        Send(null, new LanNotice(cluster, asks, new(node, new NodeAddress(address)), system).ToBytes());

    private sealed class End(SimLan lan, SimNode own) : ILocalNetwork
    {
        public void Open(INode node, Action<ReadOnlyMemory<byte>> heard) => lan._members.Add((own, heard));

        public void Send(ReadOnlyMemory<byte> datagram) => lan.Send(own, datagram.ToArray());
    }
}
