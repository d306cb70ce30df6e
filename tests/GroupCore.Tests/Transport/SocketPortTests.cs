using System.Net;
using System.Net.Sockets;
using GroupCore.Platform;
using GroupCore.Transport.Sockets;

namespace GroupCore.Tests.Transport;

/// <summary>What one poll of the sockets may cost.</summary>
public sealed class SocketPortTests
{
    /// <summary>In a storm of dials, sockets that are connected are read between two parts of it.</summary>
    [Theory, MemberData(nameof(TcpMeshTests.Ports), MemberType = typeof(TcpMeshTests))]
    public void A_poll_takes_some_of_the_connections_that_wait_and_the_next_one_the_others(string kind)
    {
        const int dials = 200, most = 64;
        using var port = Make(kind);
        var at = port.Listen(new(IPAddress.Loopback, 0));
        var sockets = new List<Socket>();
        var counted = new Counting();
        try
        {
            for (int i = 0; i < dials; i++)
            {
                sockets.Add(new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp));
                sockets[^1].Connect(at);
            }
            for (long end = Environment.TickCount64 + 60_000; counted.Accepted < dials && Environment.TickCount64 < end;)
            {
                int before = counted.Accepted;
                port.Wait(1_000_000_000);
                port.Poll(counted);
                Assert.InRange(counted.Accepted - before, 0, most);
            }
            Assert.Equal(dials, counted.Accepted);
        }
        finally
        {
            sockets.ForEach(socket => socket.Dispose());
        }
    }

    /// <summary>A crowd pushes out connections whose handshake has not been read, so what has arrived is read first.</summary>
    [Fact]
    public void A_poll_reads_what_has_arrived_before_it_takes_connections()
    {
        if (!OperatingSystem.IsLinux()) return;
        using var port = new EpollPort();
        var at = port.Listen(new(IPAddress.Loopback, 0));
        var counted = new Counting();
        using var first = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        using var second = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        first.Connect(at);
        Poll(1);
        first.Send(new byte[1]);
        second.Connect(at);
        Poll(2);
        Assert.Equal(["accepted", "readable", "accepted"], counted.Order);

        void Poll(int accepted)
        {
            for (long end = Environment.TickCount64 + 60_000; counted.Accepted < accepted && Environment.TickCount64 < end;)
            {
                port.Wait(1_000_000_000);
                port.Poll(counted);
            }
        }
    }

    /// <summary>Turns may be long, so polls that ask only the connected sockets are limited not only in number but also in time.</summary>
    [Fact]
    public void A_poll_beside_a_connection_that_is_busy_takes_another_that_waits()
    {
        if (!OperatingSystem.IsLinux()) return;
        using var port = new EpollPort();
        var at = port.Listen(new(IPAddress.Loopback, 0));
        var counted = new Counting();
        using var first = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        using var second = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        first.Connect(at);
        for (long end = Environment.TickCount64 + 60_000; counted.Accepted < 1 && Environment.TickCount64 < end;)
        {
            port.Wait(1_000_000_000);
            port.Poll(counted);
        }
        port.Poll(counted);
        second.Connect(at);
        long now = Environment.TickCount64;
        SpinWait.SpinUntil(() => Environment.TickCount64 > now + 20);
        port.Poll(counted);
        Assert.Equal(2, counted.Accepted);
    }

    /// <summary>A peer that has connected costs a buffer only while something is sent to it.</summary>
    [Fact]
    public void A_socket_at_rest_holds_no_buffer()
    {
        using var port = new CompletionPort();
        using var dialler = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        var counted = Taking(port, dialler);
        Assert.Equal(0, port.BufferBytes);
        Assert.Equal(3, port.Send(counted.Taken!, [new([1, 2, 3])]));
        Assert.InRange(port.BufferBytes, 1, 64 << 10);
        PollUntil(port, counted, () => port.BufferBytes == 0);
        byte[] got = new byte[4];
        Assert.Equal(3, dialler.Receive(got));
        Assert.Equal([1, 2, 3, 0], got);
    }

    /// <summary>What comes over a paused connection is not told and does not keep the loop awake. It is there afterwards, with the end behind it.</summary>
    [Theory, MemberData(nameof(TcpMeshTests.Ports), MemberType = typeof(TcpMeshTests))]
    public void A_connection_that_is_paused_is_silent_until_it_goes_on(string kind)
    {
        using var port = Make(kind);
        using var dialler = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        using var other = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        var counted = Taking(port, dialler);
        var paused = counted.Taken!;
        port.Pause(paused);
        dialler.Send([1, 2, 3]);
        dialler.Shutdown(SocketShutdown.Send);
        // When this connection is here, what was sent before it has arrived too, as far as the system tells in order.
        other.Connect(counted.At!);
        PollUntil(port, counted, () => counted.Accepted == 2);
        for (int i = 0; i < 50; i++) port.Poll(counted);
        Assert.False(port.HasNews);
        Assert.DoesNotContain(paused, counted.Readable);
        port.Resume(paused);
        Assert.True(port.HasNews);
        byte[] got = new byte[10];
        int count = 0, last = 0;
        PollUntil(port, counted, () => counted.Readable.Contains(paused));
        for (long end = Environment.TickCount64 + 60_000; last >= 0 && Environment.TickCount64 < end; port.Poll(counted)) count += Math.Max(0, last = port.Receive(paused, got));
        Assert.Equal((3, -1), (count, last));
        Assert.Equal([1, 2, 3], got[..3]);
    }

    /// <summary>A machine that vanishes says nothing, so the kernel asks about connections of either direction.</summary>
    [Theory, MemberData(nameof(TcpMeshTests.Ports), MemberType = typeof(TcpMeshTests))]
    public void The_kernel_asks_whether_the_other_end_of_a_silent_connection_is_there(string kind)
    {
        using var port = Make(kind);
        using var dialler = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        var taken = Taking(port, dialler).Taken!;
        foreach (var socket in new[] { taken, port.Dial((IPEndPoint)dialler.RemoteEndPoint!) })
        {
            using var borrowed = socket is EpollSocket epoll ? new Socket(new SafeSocketHandle(epoll.Descriptor, ownsHandle: false)) : null;
            var asked = borrowed ?? ((CompletionSocket)socket).Socket;
            Assert.NotEqual(0, asked.GetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive));
            Assert.Equal(60, asked.GetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime));
            Assert.Equal(10, asked.GetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval));
            Assert.Equal(3, asked.GetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount));
            if (!OperatingSystem.IsLinux()) continue;
            byte[] unacknowledged = new byte[sizeof(int)];
            Assert.Equal(sizeof(int), asked.GetRawSocketOption(LibC.TcpLevel, LibC.UserTimeout, unacknowledged));
            Assert.Equal(90_000, BitConverter.ToInt32(unacknowledged));
        }
    }

    /// <summary>Otherwise the dialler would wait for an answer for as long as this process lives.</summary>
    [Theory, MemberData(nameof(TcpMeshTests.Ports), MemberType = typeof(TcpMeshTests))]
    public void A_connection_that_came_after_the_last_poll_ends_with_the_port(string kind)
    {
        using var dialler = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveTimeout = 10_000 };
        using (var port = Make(kind))
        {
            dialler.Connect(port.Listen(new(IPAddress.Loopback, 0)));
            port.Wait(60_000_000_000);
        }
        int got = dialler.Receive(new byte[1], 0, 1, SocketFlags.None, out var error);
        Assert.True(error is SocketError.Success or SocketError.ConnectionReset, $"{error}");
        Assert.Equal(0, got);
    }

    /// <summary>The system had taken the connection, and tells that only when the port is closed.</summary>
    [Fact]
    public void A_connection_whose_completion_comes_after_the_end_of_a_port_ends_too()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var dialler = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveTimeout = 10_000 };
        dialler.Connect(listener.LocalEndpoint);
        using var taken = listener.AcceptSocket();
        var port = new CompletionPort();
        port.Dispose();
        port.Accepting.AcceptSocket = taken;
        port.Completed(port.Accepting);
        int got = dialler.Receive(new byte[1], 0, 1, SocketFlags.None, out var error);
        Assert.True(error is SocketError.Success or SocketError.ConnectionReset, $"{error}");
        Assert.Equal(0, got);
    }

    private static ISocketPort Make(string kind) => kind == "Completion" || !OperatingSystem.IsLinux() ? new CompletionPort() : new EpollPort();

    private static Counting Taking(ISocketPort port, Socket dialler)
    {
        var counted = new Counting { At = port.Listen(new(IPAddress.Loopback, 0)) };
        dialler.Connect(counted.At);
        PollUntil(port, counted, () => counted.Taken is not null);
        return counted;
    }

    private static void PollUntil(ISocketPort port, Counting counted, Func<bool> condition)
    {
        for (long end = Environment.TickCount64 + 60_000; !condition(); port.Poll(counted))
        {
            Assert.True(Environment.TickCount64 < end);
            port.Wait(100_000_000);
        }
    }

    private sealed class Counting : ISocketPortEvents
    {
        public IPEndPoint? At { get; init; }

        public PortSocket? Taken { get; private set; }

        public HashSet<PortSocket> Readable { get; } = [];

        public int Accepted { get; private set; }

        public List<string> Order { get; } = [];

        public void OnAccepted(PortSocket socket)
        {
            Taken ??= socket;
            Accepted++;
            Order.Add("accepted");
        }

        public void OnAcceptFailed(bool noDescriptor)
        {
        }

        public void OnDialled(PortSocket socket, DialResult result)
        {
        }

        public void OnReadable(PortSocket socket)
        {
            Order.Add("readable");
            Readable.Add(socket);
        }

        public void OnWritable(PortSocket socket)
        {
        }
    }
}
