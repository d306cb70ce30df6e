using System.Net;
using System.Net.Sockets;
using Ida.Tests.Shared;

namespace Ida.Process.Tests.Nodes;

/// <summary>The proxy itself: if it is held up, the nodes behind it take that for silence.</summary>
public sealed class BreakingProxyTests
{
    // More than the pool has threads, or starts during this test.
    private const int Callers = 128;
    private const int Patience = 10_000;

    /// <summary>Other tests block threads of the pool. The nodes go on beside them, and so must the proxy between the nodes.</summary>
    [Fact]
    public void A_proxy_forwards_while_all_threads_of_the_pool_are_blocked()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var proxy = new BreakingProxy { Target = new(listener.LocalEndpoint.ToString()!) };
        // Not disposed of: the thread that wakes last may still look at it.
        var over = new ManualResetEventSlim();
        bool free = false;
        for (int i = 0; i < Callers; i++) ThreadPool.UnsafeQueueUserWorkItem(static over => over.Wait(), over, preferLocal: false);
        ThreadPool.UnsafeQueueUserWorkItem(_ => Volatile.Write(ref free, true), null);
        try
        {
            using var from = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { ReceiveTimeout = Patience };
            from.Connect(IPEndPoint.Parse(proxy.Address.Text));
            Assert.True(listener.Server.Poll(Patience * 1000, SelectMode.SelectRead), "no connection came");
            using var to = listener.AcceptSocket();
            to.ReceiveTimeout = Patience;
            from.Send([1]);
            Assert.Equal(1, to.Receive(new byte[1]));
            to.Send([2]);
            Assert.Equal(1, from.Receive(new byte[1]));
            Assert.False(Volatile.Read(ref free));
        }
        finally
        {
            over.Set();
        }
    }
}
