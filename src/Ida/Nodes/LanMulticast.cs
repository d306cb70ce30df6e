using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using System.Text;
using GroupCore.Basics;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;
using Oracle;
using Oracle.Frames;

namespace Ida.Nodes;

/// <summary>
/// Multicast to the nodes of a cluster on the local network, by IPv4 (239.255.0.0/16) and IPv6 (ff12::/16), in groups that follow from the cluster's name, on all interfaces. A node that
/// is reached on the loopback uses only that. Nothing leaves the local network.
/// </summary>
internal sealed class LanMulticast(string cluster) : ILocalNetwork, IStopListener
{
    private const int Port = 7711;
    private const int MostWaiting = 64;
    private readonly List<Socket> _listeners = [];
    private readonly List<(Socket Socket, IPEndPoint To)> _senders = [];
    private INode _node = null!;
    private Action<ReadOnlyMemory<byte>> _heard = null!;
    private int _waiting;

    /// <inheritdoc/>
    /// <exception cref="ClusterUnreachableException">No interface takes part.</exception>
    public void Open(INode node, Action<ReadOnlyMemory<byte>> heard)
    {
        (_node, _heard) = (node, heard);
        bool local = EndPointText.TryParse(node.Links.Local.Text, out var own) && IPAddress.IsLoopback(own.Address);
        string why = "none is up";
        ulong hash = XxHash64.Hash(Encoding.UTF8.GetBytes(cluster));
        try
        {
            foreach (var group in (IPAddress[])[Group(hash), LongGroup(hash)]) Open(group, local, ref why);
        }
        catch
        {
            Close();
            throw;
        }
        if (_senders.Count == 0)
        {
            Close();
            throw new ClusterUnreachableException($"No interface of this machine takes part in multicast ({why}). Name the seeds instead.");
        }
        node.AtStop(this);
        using (ContextFlow.Stop())
            foreach (var listener in _listeners) _ = ListenAsync(listener);
    }

    /// <inheritdoc/>
    public void Send(ReadOnlyMemory<byte> datagram)
    {
        foreach (var (socket, to) in _senders)
        {
            try
            {
                socket.SendTo(datagram.Span, to);
            }
            catch (Exception error) when (error is SocketException or ObjectDisposedException)
            {
                // The interface is down, or its queue is full: the datagram is lost, as any may be.
            }
        }
    }

    /// <inheritdoc/>
    public void OnStop(Exception reason) => Close();

    private static IPAddress Group(ulong hash) => new([239, 255, (byte)(hash >> 8), (byte)hash]);

    private static IPAddress LongGroup(ulong hash)
    {
        byte[] bytes = new byte[16];
        (bytes[0], bytes[1]) = (0xFF, 0x12);
        System.Buffers.Binary.BinaryPrimitives.WriteUInt64BigEndian(bytes.AsSpan(8), hash);
        return new(bytes);
    }

    private void Open(IPAddress group, bool local, ref string why)
    {
        bool isLong = group.AddressFamily == AddressFamily.InterNetworkV6;
        if (!(isLong ? Socket.OSSupportsIPv6 : Socket.OSSupportsIPv4)) return;
        var listener = new Socket(group.AddressFamily, SocketType.Dgram, ProtocolType.Udp);
        _listeners.Add(listener);
        try
        {
            // Each node of this machine hears all.
            listener.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
            listener.Bind(new IPEndPoint(isLong ? IPAddress.IPv6Any : IPAddress.Any, Port));
        }
        catch (SocketException error)
        {
            why = error.Message;
            return;
        }
        foreach (var one in NetworkInterface.GetAllNetworkInterfaces())
        {
            if (one.OperationalStatus == OperationalStatus.Down || (one.NetworkInterfaceType == NetworkInterfaceType.Loopback) != local) continue;
            var properties = one.GetIPProperties();
            if (!properties.UnicastAddresses.Any(address => address.Address.AddressFamily == group.AddressFamily)) continue;
            try
            {
                int index = isLong ? properties.GetIPv6Properties().Index : properties.GetIPv4Properties().Index;
                Join(listener, group, index);
                _senders.Add((Sender(group, index), new(group, Port)));
            }
            catch (Exception error) when (error is SocketException or NetworkInformationException)
            {
                // This interface knows no multicast.
                why = $"{one.Name}: {error.Message}";
            }
        }
    }

    private static void Join(Socket listener, IPAddress group, int index)
    {
        if (group.AddressFamily == AddressFamily.InterNetworkV6) listener.SetSocketOption(SocketOptionLevel.IPv6, SocketOptionName.AddMembership, new IPv6MulticastOption(group, index));
        else listener.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.AddMembership, new MulticastOption(group, index));
    }

    private static Socket Sender(IPAddress group, int index)
    {
        bool isLong = group.AddressFamily == AddressFamily.InterNetworkV6;
        var level = isLong ? SocketOptionLevel.IPv6 : SocketOptionLevel.IP;
        var socket = new Socket(group.AddressFamily, SocketType.Dgram, ProtocolType.Udp) { Blocking = false };
        try
        {
            socket.SetSocketOption(level, SocketOptionName.MulticastInterface, isLong ? index : IPAddress.HostToNetworkOrder(index));
            socket.SetSocketOption(level, SocketOptionName.MulticastTimeToLive, 1);
            socket.SetSocketOption(level, SocketOptionName.MulticastLoopback, true);
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private async Task ListenAsync(Socket listener)
    {
        // One byte more than the longest notice shows that a datagram is none.
        byte[] buffer = new byte[LanNotice.MostBytes + 1];
        var anybody = new IPEndPoint(listener.AddressFamily == AddressFamily.InterNetworkV6 ? IPAddress.IPv6Any : IPAddress.Any, 0);
        for (; ; )
        {
            int length;
            try
            {
                length = (await listener.ReceiveFromAsync(buffer, anybody).ConfigureAwait(false)).ReceivedBytes;
            }
            catch (SocketException error) when (error.SocketErrorCode is SocketError.MessageSize or SocketError.ConnectionReset)
            {
                continue;
            }
            catch (Exception error) when (error is SocketException or ObjectDisposedException)
            {
                return;
            }
            if (Interlocked.Increment(ref _waiting) > MostWaiting) Interlocked.Decrement(ref _waiting);
            else _node.Post(new Datagram(this, buffer.AsSpan(0, length).ToArray()));
        }
    }

    private void Close()
    {
        foreach (var listener in _listeners) listener.Dispose();
        foreach (var (socket, _) in _senders) socket.Dispose();
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
