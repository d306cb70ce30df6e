using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using GroupCore.Runtime;
using GroupCore.Transport;

namespace Ida.Tests.Shared;

/// <summary>Forwards connections to a node and, when asked, resets each after a random number of bytes.</summary>
/// <remarks>
/// The proxy has threads of its own, like the nodes. Otherwise what other tests of the process do to the thread pool would hold up the proxy but not
/// the nodes, and after 800 ms of that one of the nodes is excluded.
/// </remarks>
internal sealed class BreakingProxy : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly ConcurrentDictionary<Connection, bool> _open = new();
    private readonly Lock _lock = new();
    private readonly Prng _random;
    private volatile bool _over;
    private volatile int _most;
    private int _breaks;
    private int _connections;

    public BreakingProxy(ulong seed = 1)
    {
        _random = new(seed);
        _listener.Start();
        Address = EndPointText.Format((IPEndPoint)_listener.LocalEndpoint);
        Run(Accept);
    }

    public NodeAddress Address { get; }

    public NodeAddress Target { get; set; }

    /// <summary>Connections are reset after at most this many bytes; 0 = never.</summary>
    public int ResetWithin
    {
        set => _most = value;
    }

    /// <summary>Connections forwarded so far.</summary>
    public int Connections => Volatile.Read(ref _connections);

    public int Breaks => Volatile.Read(ref _breaks);

    /// <summary>Puts bytes into the streams to the target.</summary>
    public void Inject(byte[] bytes)
    {
        foreach (var connection in _open.Keys) connection.Server.Send(bytes);
    }

    /// <summary>Ends all current connections.</summary>
    public void BreakAll()
    {
        foreach (var connection in _open.Keys) connection.Server.Shutdown(SocketShutdown.Both);
    }

    public void Dispose()
    {
        _over = true;
        _listener.Dispose();
        foreach (var connection in _open.Keys) connection.Reset();
    }

    private static void Run(Action work) => new Thread(() => work()) { IsBackground = true, Name = nameof(BreakingProxy) }.Start();

    private void Accept()
    {
        try
        {
            while (true)
            {
                var client = _listener.AcceptSocket();
                Run(() => Forward(client));
            }
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException or InvalidOperationException)
        {
            // The test is over.
        }
    }

    private void Forward(Socket client)
    {
        var connection = new Connection(client);
        try
        {
            client.NoDelay = true;
            connection.Server.Connect(EndPointText.Parse(Target.Text, nameof(Target)));
            lock (_lock) connection.Left = _most == 0 ? int.MaxValue : 1 + _random.Next(_most);
            _open[connection] = true;
            Interlocked.Increment(ref _connections);
            // Dispose sees this connection, or is seen here.
            if (_over) return;
            Run(() => Copy(connection, connection.Server, client));
            Copy(connection, client, connection.Server);
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // Nobody answers at the target, so this end is closed too.
        }
        finally
        {
            End(connection);
        }
    }

    private void Copy(Connection connection, Socket from, Socket to)
    {
        var buffer = new byte[32 << 10];
        try
        {
            while (true)
            {
                int count = from.Receive(buffer);
                if (count == 0) return;
                int allowed = Math.Min(count, Math.Max(0, Interlocked.Add(ref connection.Left, -count) + count));
                to.Send(buffer.AsSpan(0, allowed));
                if (allowed == count) continue;
                Interlocked.Increment(ref _breaks);
                return;
            }
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // Broken by the other direction or by an end.
        }
        finally
        {
            End(connection);
        }
    }

    /// <summary>When either end is gone, so is the other.</summary>
    private void End(Connection connection)
    {
        _open.TryRemove(connection, out _);
        connection.Reset();
    }

    private sealed class Connection(Socket client)
    {
        /// <summary>Bytes until it is reset, in both directions together.</summary>
        public int Left;

        private int _ended;

        public Socket Server { get; } = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };

        public void Reset()
        {
            if (Interlocked.Exchange(ref _ended, 1) != 0) return;
            foreach (var socket in (Socket[])[client, Server])
            {
                socket.LingerState = new(true, 0);
                socket.Dispose();
            }
        }
    }
}
