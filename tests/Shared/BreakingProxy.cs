using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using GroupCore.Runtime;
using GroupCore.Transport;

namespace Ida.Tests.Shared;

/// <summary>Forwards connections to a node and, when asked, resets each after a random number of bytes.</summary>
internal sealed class BreakingProxy : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _over = new();
    private readonly ConcurrentDictionary<Socket, bool> _toTarget = new();
    private readonly Lock _lock = new();
    private readonly Prng _random;
    private volatile int _most;
    private int _breaks;
    private int _connections;

    public BreakingProxy(ulong seed = 1)
    {
        _random = new(seed);
        _listener.Start();
        Address = EndPointText.Format((IPEndPoint)_listener.LocalEndpoint);
        _ = Accept();
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
        foreach (var socket in _toTarget.Keys) socket.Send(bytes);
    }

    /// <summary>Ends the connections there are.</summary>
    public void BreakAll()
    {
        foreach (var socket in _toTarget.Keys) socket.Shutdown(SocketShutdown.Both);
    }

    public void Dispose()
    {
        _over.Cancel();
        _listener.Dispose();
        foreach (var socket in _toTarget.Keys) socket.Dispose();
    }

    private async Task Accept()
    {
        try
        {
            while (true) _ = Forward(await _listener.AcceptSocketAsync(_over.Token));
        }
        catch (Exception error) when (error is OperationCanceledException or SocketException or ObjectDisposedException)
        {
            // The test is over.
        }
    }

    private async Task Forward(Socket from)
    {
        using var client = from;
        using var server = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        client.NoDelay = true;
        try
        {
            var target = EndPointText.Parse(Target.Text, nameof(Target));
            await server.ConnectAsync(target, _over.Token);
            _toTarget[server] = true;
            Interlocked.Increment(ref _connections);
            int left;
            lock (_lock) left = _most == 0 ? int.MaxValue : 1 + _random.Next(_most);
            var budget = new StrongBox(left);
            await Task.WhenAny(Copy(client, server, budget), Copy(server, client, budget));
        }
        catch (Exception error) when (error is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            // Either end is gone: so is the other.
        }
        _toTarget.TryRemove(server, out _);
        client.LingerState = server.LingerState = new(true, 0);
    }

    private async Task Copy(Socket from, Socket to, StrongBox budget)
    {
        var buffer = new byte[32 << 10];
        try
        {
            while (true)
            {
                int count = await from.ReceiveAsync(buffer.AsMemory(), _over.Token);
                if (count == 0) return;
                int allowed = Math.Min(count, Math.Max(0, Interlocked.Add(ref budget.Left, -count) + count));
                await to.SendAsync(buffer.AsMemory(0, allowed), _over.Token);
                if (allowed == count) continue;
                Interlocked.Increment(ref _breaks);
                return;
            }
        }
        catch (Exception error) when (error is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            // Broken by the other direction or by an end.
        }
    }

    private sealed class StrongBox(int left)
    {
        public int Left = left;
    }
}
