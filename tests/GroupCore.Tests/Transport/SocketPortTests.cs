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

    private sealed class Counting : ISocketPortEvents
    {
        public int Accepted { get; private set; }

        public void OnAccepted(PortSocket socket) => Accepted++;

        public void OnAcceptFailed()
        {
        }

        public void OnDialled(PortSocket socket, DialResult result)
        {
        }

        public void OnReadable(PortSocket socket)
        {
        }

        public void OnWritable(PortSocket socket)
        {
        }
    }
}
