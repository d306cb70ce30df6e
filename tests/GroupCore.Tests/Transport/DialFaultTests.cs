using System.Net;
using System.Net.Sockets;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Sockets;

namespace GroupCore.Tests.Transport;

/// <summary>A dial or an accept that the system refuses at once.</summary>
public sealed class DialFaultTests
{
    private const ulong Id = 1, Guest = 77;

    public static TheoryData<string, bool> Faults => new()
    {
        { nameof(NoDescriptorException), true },
        { nameof(IOException), false },
        { nameof(SocketException), false },
    };

    /// <summary>Its descriptor is of use only where there is none.</summary>
    [Theory, MemberData(nameof(Faults))]
    public void A_guest_gives_way_to_a_dial_only_for_want_of_a_descriptor(string fault, bool goes)
    {
        var (mesh, node, port) = WithGuest();
        port.Fault = fault switch
        {
            nameof(NoDescriptorException) => new NoDescriptorException("none left"),
            nameof(IOException) => new IOException("no memory for a registration"),
            _ => new SocketException((int)SocketError.NetworkUnreachable),
        };
        mesh.Open(new("127.0.0.1:5"), 78);
        mesh.Poll();
        Assert.Equal(goes ? 1 : 0, node.Counters.Refused(RefusalReason.Displaced));
        Assert.Equal(goes ? 1 : 2, mesh.Live);
    }

    [Theory, InlineData(true), InlineData(false)]
    public void A_guest_gives_way_to_who_comes_only_for_want_of_a_descriptor(bool noDescriptor)
    {
        var (mesh, node, port) = WithGuest();
        port.RefuseAccept(noDescriptor);
        mesh.Poll();
        Assert.Equal(noDescriptor ? 1 : 0, node.Counters.Refused(RefusalReason.Displaced));
        Assert.Equal(1, node.Counters.Refused(RefusalReason.Exhausted));
    }

    [Fact]
    public void A_dial_that_throws_leaves_no_socket_behind()
    {
        using var port = new CompletionPort();
        Assert.Throws<SocketException>(() => port.Dial(new UnusableEndPoint()));
        Assert.Equal(0, port.Sockets);
    }

    private static (TcpMesh Mesh, Node Node, FaultyPort Port) WithGuest()
    {
        TcpMesh? mesh = null;
        var port = new FaultyPort();
        var node = new Node(Id, 1, new NoHost(), made => mesh = new(made, new("test", port, new(IPAddress.Loopback, 0), null), 1));
        node.Advance(1_000_000_000);
        port.Come(new HelloFrame("test", HelloFrame.Version, HelloFrame.Version, false, Guest, Id, 1, 0, 0, "127.0.0.1:1").ToFrame());
        mesh!.Poll();
        Assert.Equal(1, mesh.Live);
        return (mesh, node, port);
    }

    /// <summary>As where the system has no more room for what it is told of the socket.</summary>
    private sealed class UnusableEndPoint() : IPEndPoint(IPAddress.Loopback, 1)
    {
        public override SocketAddress Serialize() => throw new SocketException((int)SocketError.NoBufferSpaceAvailable);
    }

    private sealed class NoHost : IHostPort
    {
        public long Clock() => 0;

        public void Wake()
        {
        }

        public void RunCompletions(List<ICompletion> completions)
        {
        }

        public void Resume(ICompletion work)
        {
        }
    }

    private sealed class FaultyPort : ISocketPort
    {
        private readonly Queue<Action<ISocketPortEvents>> _news = new();

        /// <summary>What a dial throws.</summary>
        public Exception Fault { get; set; } = new InvalidOperationException();

        public bool HasNews => _news.Count > 0;

        /// <summary>Somebody connects and says that.</summary>
        public void Come(byte[] said)
        {
            var socket = new Socket(said);
            _news.Enqueue(events => events.OnAccepted(socket));
            _news.Enqueue(events => events.OnReadable(socket));
        }

        public void RefuseAccept(bool noDescriptor) => _news.Enqueue(events => events.OnAcceptFailed(noDescriptor));

        public IPEndPoint Listen(IPEndPoint at) => new(at.Address, 7);

        public void ResumeAccepting()
        {
        }

        public PortSocket Dial(IPEndPoint to) => throw Fault;

        public void Wait(long timeout)
        {
        }

        public void Poll(ISocketPortEvents events)
        {
            while (_news.TryDequeue(out var told)) told(events);
        }

        public int Receive(PortSocket socket, Span<byte> to)
        {
            var from = (Socket)socket;
            int count = Math.Min(to.Length, from.Said.Length);
            from.Said.AsSpan(0, count).CopyTo(to);
            from.Said = from.Said[count..];
            return count;
        }

        public int Send(PortSocket socket, ReadOnlySpan<ArraySegment<byte>> pieces)
        {
            int count = 0;
            foreach (var piece in pieces) count += piece.Count;
            return count;
        }

        public void Close(PortSocket socket)
        {
        }

        public void Wake()
        {
        }

        public void Dispose()
        {
        }

        private sealed class Socket(byte[] said) : PortSocket
        {
            public byte[] Said { get; set; } = said;
        }
    }
}
