using System.Net;
using System.Text;
using GroupCore.Basics;
using GroupCore.Runtime;
using GroupCore.Wire;
using Oracle;

namespace Ida.Nodes;

/// <summary>
/// Multicast to the nodes of a cluster on the local network, by IPv4 (239.255.0.0/16) and IPv6 (ff12::/16), in groups that follow from the cluster's name, on all interfaces; on that of
/// the loopback only for nodes without credentials, <paramref name="ofMachine"/>. Nothing leaves the local network. Interfaces that come up later take part soon.
/// </summary>
internal sealed class LanMulticast(string cluster, bool ofMachine) : ILocalNetwork, IStopListener
{
    private const int MostWaiting = 64;
    private const long LookEvery = 5_000_000_000;
    private readonly Lock _gate = new();
    private readonly SortedDictionary<(int Index, string Own), LanInterface> _interfaces = [];
    private readonly IPAddress[] _groups = GroupsOf(XxHash64.Hash(Encoding.UTF8.GetBytes(cluster)));
    private INode _node = null!;
    private Action<ReadOnlyMemory<byte>> _heard = null!;
    private long _looked;
    private int _looking, _waiting;
    private bool _closed;
    private volatile LanInterface[] _open = [];

    /// <inheritdoc/>
    public bool IsOfMachine => ofMachine;

    /// <inheritdoc/>
    public void Open(INode node, Action<ReadOnlyMemory<byte>> heard)
    {
        (_node, _heard, _looked) = (node, heard, node.Now);
        Look();
        node.AtStop(this);
    }

    /// <summary>Whether an interface of this machine can take part now.</summary>
    public bool IsPossible()
    {
        foreach (var (index, own) in LanInterface.Usable(ofMachine))
        {
            using var opened = LanInterface.TryOpen(GroupFor(own), index, own, ofMachine, static _ => { });
            if (opened is not null) return true;
        }
        return false;
    }

    /// <inheritdoc/>
    public void Send(ReadOnlyMemory<byte> datagram)
    {
        foreach (var one in _open) one.Send(datagram.Span);
    }

    /// <inheritdoc/>
    public void Step()
    {
        if (_node.Now - _looked < LookEvery || Interlocked.Exchange(ref _looking, 1) != 0) return;
        _looked = _node.Now;
        // It takes a millisecond or more: not in a turn.
        _node.Resume(new ActionCompletion(() =>
        {
            Look();
            Volatile.Write(ref _looking, 0);
        }));
    }

    /// <inheritdoc/>
    public void OnStop(Exception reason) => Close();

    /// <summary>Ends it; also where a node could not be started.</summary>
    public void Close()
    {
        using (_gate.Hold())
        {
            _closed = true;
            foreach (var one in _open) one.Dispose();
            _open = [];
        }
    }

    private static IPAddress[] GroupsOf(ulong hash)
    {
        byte[] bytes = new byte[16];
        (bytes[0], bytes[1]) = (0xFF, 0x12);
        System.Buffers.Binary.BinaryPrimitives.WriteUInt64BigEndian(bytes.AsSpan(8), hash);
        return [new([239, 255, (byte)(hash >> 8), (byte)hash]), new(bytes)];
    }

    /// <summary>Takes part on the interfaces that are up now.</summary>
    private void Look()
    {
        var usable = LanInterface.Usable(ofMachine);
        using (_gate.Hold())
        {
            if (_closed) return;
            foreach (var gone in _interfaces.Where(pair => pair.Value.IsOver || !usable.Any(one => KeyOf(one) == pair.Key)).ToList())
            {
                _interfaces.Remove(gone.Key);
                gone.Value.Dispose();
            }
            foreach (var one in usable)
                if (!_interfaces.ContainsKey(KeyOf(one)) && LanInterface.TryOpen(GroupFor(one.Own), one.Index, one.Own, ofMachine, OnDatagram) is { } opened) _interfaces.Add(KeyOf(one), opened);
            _open = [.. _interfaces.Select(static pair => pair.Value)];
        }
    }

    private static (int, string) KeyOf((int Index, IPAddress Own) one) => (one.Index, one.Own.ToString());

    private IPAddress GroupFor(IPAddress own) => _groups[own.AddressFamily == System.Net.Sockets.AddressFamily.InterNetworkV6 ? 1 : 0];

    private void OnDatagram(ReadOnlySpan<byte> datagram)
    {
        if (Interlocked.Increment(ref _waiting) > MostWaiting) Interlocked.Decrement(ref _waiting);
        else _node.Post(new Datagram(this, datagram.ToArray()));
    }

    private sealed class Datagram(LanMulticast network, byte[] bytes) : NodeCommand
    {
        public override void Run()
        {
            Interlocked.Decrement(ref network._waiting);
            network._heard(bytes);
        }

        public override void Abandon(Exception reason)
        {
            // The node has ended.
        }
    }
}
