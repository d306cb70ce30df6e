using System.Net;
using System.Net.Sockets;
using GroupCore.Runtime;
using GroupCore.Transport.Sockets;

namespace GroupCore.Tests.Transport;

/// <summary>A dial or an accept that the system refuses at once.</summary>
public sealed class DialFaultTests
{
    public static TheoryData<string, bool> Faults => new()
    {
        { nameof(NoDescriptorException), true },
        { nameof(IOException), false },
        { nameof(SocketException), false },
    };

    /// <summary>The guest's descriptor is of use only if the process has none left.</summary>
    [Theory, MemberData(nameof(Faults))]
    public void A_guest_gives_way_to_a_dial_only_for_want_of_a_descriptor(string fault, bool goes)
    {
        var node = WithGuest();
        node.Port.Fault = fault switch
        {
            nameof(NoDescriptorException) => new NoDescriptorException("none left"),
            nameof(IOException) => new IOException("no memory for a registration"),
            _ => new SocketException((int)SocketError.NetworkUnreachable),
        };
        node.Mesh.Open(new("127.0.0.1:5"), 78);
        node.Mesh.Poll();
        Assert.Equal(goes ? 1 : 0, node.Node.Counters.Refused(RefusalReason.Displaced));
        Assert.Equal(goes ? 1 : 2, node.Mesh.Live);
    }

    [Theory, InlineData(true), InlineData(false)]
    public void A_guest_gives_way_to_a_new_connection_only_for_want_of_a_descriptor(bool noDescriptor)
    {
        var node = WithGuest();
        node.Port.RefuseAccept(noDescriptor);
        node.Mesh.Poll();
        Assert.Equal(noDescriptor ? 1 : 0, node.Node.Counters.Refused(RefusalReason.Displaced));
        Assert.Equal(1, node.Node.Counters.Refused(RefusalReason.Exhausted));
    }

    [Fact]
    public void A_dial_that_throws_leaves_no_socket_behind()
    {
        using var port = new CompletionPort();
        Assert.Throws<SocketException>(() => port.Dial(new UnusableEndPoint()));
        Assert.Equal(0, port.Sockets);
    }

    private static ScriptedNode WithGuest()
    {
        var node = new ScriptedNode();
        node.Come(77, "127.0.0.1:1", 1);
        Assert.Equal(1, node.Mesh.Live);
        return node;
    }

    /// <summary>As if the system had no more room for what it is told of the socket.</summary>
    private sealed class UnusableEndPoint() : IPEndPoint(IPAddress.Loopback, 1)
    {
        public override SocketAddress Serialize() => throw new SocketException((int)SocketError.NoBufferSpaceAvailable);
    }
}
