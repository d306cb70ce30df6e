using System.Net;
using System.Net.Sockets;
using GroupCore.Transport.Sockets;

namespace GroupCore.Tests.Transport;

/// <summary>What one poll of the sockets may cost.</summary>
public sealed class SocketPortTests
{
    /// <summary>A storm of dials: between two parts of it those that are connected are read.</summary>
    [Theory, MemberData(nameof(TcpMeshTests.Ports), MemberType = typeof(TcpMeshTests))]
    public void A_poll_takes_some_of_the_connections_that_wait_and_the_next_one_the_others(string kind)
    {
        const int dials = 200, most = 64;
        using var port = kind == "Completion" || !OperatingSystem.IsLinux() ? (ISocketPort)new CompletionPort() : new EpollPort();
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

    /// <summary>A crowd pushes out those whose handshake has not been read: what has arrived is read first.</summary>
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

    private sealed class Counting : ISocketPortEvents
    {
        public int Accepted { get; private set; }

        public List<string> Order { get; } = [];

        public void OnAccepted(PortSocket socket)
        {
            Accepted++;
            Order.Add("accepted");
        }

        public void OnAcceptFailed(bool noDescriptor)
        {
        }

        public void OnDialled(PortSocket socket, DialResult result)
        {
        }

        public void OnReadable(PortSocket socket) => Order.Add("readable");

        public void OnWritable(PortSocket socket)
        {
        }
    }
}
