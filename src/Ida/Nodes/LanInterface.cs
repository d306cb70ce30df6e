using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using GroupCore.Basics;
using Oracle.Frames;

namespace Ida.Nodes;

/// <summary>The part of <see cref="LanMulticast"/> on one interface and by one kind of addresses: a socket that hears a group, and one that sends to it.</summary>
internal sealed class LanInterface : IDisposable
{
    private const int Port = 7711;
    private readonly Socket _listener;
    private readonly Socket _sender;
    private readonly IPEndPoint _to;
    private volatile bool _isOver;

    private LanInterface(Socket listener, Socket sender, IPEndPoint to) => (_listener, _sender, _to) = (listener, sender, to);

    /// <summary>What is called with each datagram, on a thread of the pool.</summary>
    public delegate void Hearer(ReadOnlySpan<byte> datagram);

    /// <summary>Whether it hears nothing any more.</summary>
    public bool IsOver => _isOver;

    /// <summary>The addresses of the interfaces that are up: one of each kind and interface, with the interface's number.</summary>
    public static IReadOnlyList<(int Index, IPAddress Own)> Usable(bool ofMachine)
    {
        var usable = new List<(int, IPAddress)>();
        foreach (var one in Interfaces())
        {
            if (one.OperationalStatus == OperationalStatus.Down || (one.NetworkInterfaceType == NetworkInterfaceType.Loopback) != ofMachine) continue;
            try
            {
                var properties = one.GetIPProperties();
                var addresses = properties.UnicastAddresses.Select(static one => one.Address).ToList();
                if (Socket.OSSupportsIPv4 && addresses.Find(static one => one.AddressFamily == AddressFamily.InterNetwork) is { } own) usable.Add((properties.GetIPv4Properties().Index, own));
                if (Socket.OSSupportsIPv6 && addresses.Find(static one => one.AddressFamily == AddressFamily.InterNetworkV6) is { } longer) usable.Add((properties.GetIPv6Properties().Index, longer));
            }
            catch (NetworkInformationException)
            {
                // It has just gone, or knows no such addresses.
            }
        }
        return usable;
    }

    /// <summary>The interfaces of this machine; none if the system does not tell.</summary>
    public static NetworkInterface[] Interfaces()
    {
        try
        {
            return NetworkInterface.GetAllNetworkInterfaces();
        }
        catch (NetworkInformationException)
        {
            return [];
        }
    }

    /// <summary>Takes part; null if the interface knows no multicast.</summary>
    public static LanInterface? TryOpen(IPAddress group, int index, IPAddress own, bool ofMachine, Hearer heard)
    {
        // A group of one link is another on each interface.
        if (IsLong(group)) group = new(group.GetAddressBytes(), index);
        Socket? listener = null, sender = null;
        try
        {
            listener = Listener(group, index);
            sender = Sender(group, index, own);
            var opened = new LanInterface(listener, sender, new(group, Port));
            using (ContextFlow.Stop()) _ = opened.ListenAsync(ofMachine, heard);
            return opened;
        }
        catch (SocketException)
        {
            listener?.Dispose();
            sender?.Dispose();
            return null;
        }
    }

    public void Send(ReadOnlySpan<byte> datagram)
    {
        try
        {
            _sender.SendTo(datagram, _to);
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // The interface is down, or its queue is full: the datagram is lost, as any may be.
        }
    }

    public void Dispose()
    {
        _isOver = true;
        _listener.Dispose();
        _sender.Dispose();
    }

    private static bool IsLong(IPAddress group) => group.AddressFamily == AddressFamily.InterNetworkV6;

    private static Socket Listener(IPAddress group, int index)
    {
        var socket = new Socket(group.AddressFamily, SocketType.Dgram, ProtocolType.Udp);
        try
        {
            // Each node of this machine hears all.
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
            // Where the system can, only what was sent to the group: nothing that comes from beyond the local network, to this machine alone.
            var at = !OperatingSystem.IsWindows() ? group : IsLong(group) ? IPAddress.IPv6Any : IPAddress.Any;
            socket.Bind(new IPEndPoint(at, Port));
            if (IsLong(group)) socket.SetSocketOption(SocketOptionLevel.IPv6, SocketOptionName.AddMembership, new IPv6MulticastOption(group, index));
            else socket.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.AddMembership, new MulticastOption(group, index));
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    private static Socket Sender(IPAddress group, int index, IPAddress own)
    {
        var level = IsLong(group) ? SocketOptionLevel.IPv6 : SocketOptionLevel.IP;
        var socket = new Socket(group.AddressFamily, SocketType.Dgram, ProtocolType.Udp) { Blocking = false };
        try
        {
            // Else the system may choose an address of another interface, from which nobody takes what is for this machine only.
            socket.Bind(new IPEndPoint(own, 0));
            socket.SetSocketOption(level, SocketOptionName.MulticastInterface, IsLong(group) ? index : IPAddress.HostToNetworkOrder(index));
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

    private async Task ListenAsync(bool ofMachine, Hearer heard)
    {
        // One byte more than the longest notice shows that a datagram is none.
        byte[] buffer = new byte[LanNotice.MostBytes + 1];
        var anybody = new IPEndPoint(_to.AddressFamily == AddressFamily.InterNetworkV6 ? IPAddress.IPv6Any : IPAddress.Any, 0);
        try
        {
            while (!_isOver)
            {
                try
                {
                    var received = await _listener.ReceiveFromAsync(buffer, anybody).ConfigureAwait(false);
                    if (!ofMachine || IPAddress.IsLoopback(((IPEndPoint)received.RemoteEndPoint).Address)) heard(buffer.AsSpan(0, received.ReceivedBytes));
                }
                catch (SocketException error) when (error.SocketErrorCode is SocketError.MessageSize or SocketError.ConnectionReset)
                {
                    // A datagram that is too long for a notice, or an answer to one of this node's.
                }
            }
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // It is being closed, or is opened anew when the interfaces are looked at next.
        }
        finally
        {
            _isOver = true;
        }
    }
}
