using System.Net;
using System.Net.Sockets;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace Ida.Chaos.Driving;

/// <summary>
/// Stands before the listening port of one member: others know only the proxy's address. The first frame of a connection tells the proxy who
/// dials. While that pair is cut, the proxy hands on no byte from either side: as on a real network, connections stay open and nothing arrives.
/// </summary>
internal sealed class LinkProxy : IDisposable
{
    private const int BufferBytes = 64 << 10;
    private const int LongestHello = 1024;
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _over = new();
    private readonly IPEndPoint _target;
    private readonly CutPairs _cuts;

    public LinkProxy(IPEndPoint target, CutPairs cuts)
    {
        (_target, _cuts) = (target, cuts);
        _listener.Start();
        Address = EndPointText.Format((IPEndPoint)_listener.LocalEndpoint).Text;
        _ = AcceptAsync();
    }

    /// <summary>What the member advertises.</summary>
    public string Address { get; }

    public void Dispose()
    {
        _over.Cancel();
        _listener.Dispose();
        _over.Dispose();
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true) _ = ServeAsync(await _listener.AcceptSocketAsync(_over.Token));
        }
        catch (Exception error) when (_over.IsCancellationRequested && error is (OperationCanceledException or SocketException or ObjectDisposedException))
        {
            // The run is over.
        }
    }

    private async Task ServeAsync(Socket accepted)
    {
        using var dialler = accepted;
        using var member = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        dialler.NoDelay = true;
        try
        {
            var hello = await ReadHelloAsync(dialler);
            var pair = new Pair(hello.From, Address);
            await _cuts.WhileCutAsync(pair, _over.Token);
            await member.ConnectAsync(_target, _over.Token);
            await member.SendAsync(hello.Frame, _over.Token);
            await Task.WhenAny(CopyAsync(dialler, member, pair), CopyAsync(member, dialler, pair));
        }
        catch (Exception error) when (error is SocketException or OperationCanceledException or ObjectDisposedException or IOException)
        {
            // One end is gone, or the member does not listen: the other end goes too.
        }
        dialler.LingerState = new(true, 0);
    }

    private async Task CopyAsync(Socket from, Socket to, Pair pair)
    {
        var buffer = new byte[BufferBytes];
        try
        {
            while (true)
            {
                int count = await from.ReceiveAsync(buffer.AsMemory(), _over.Token);
                if (count == 0) return;
                await _cuts.WhileCutAsync(pair, _over.Token);
                for (int sent = 0; sent < count;) sent += await to.SendAsync(buffer.AsMemory(sent, count - sent), _over.Token);
            }
        }
        catch (Exception error) when (error is SocketException or OperationCanceledException or ObjectDisposedException)
        {
            // An end is gone.
        }
    }

    private async Task<(string From, byte[] Frame)> ReadHelloAsync(Socket dialler)
    {
        var head = new byte[FrameHeader.Size];
        await ReadAsync(dialler, head);
        if (!FrameHeader.TryRead(head, out var header) || header.Type != FrameType.Hello || !header.IsWithin(LongestHello)) throw new IOException("not a Hello");
        var frame = new byte[header.FrameLength];
        head.CopyTo(frame, 0);
        await ReadAsync(dialler, frame.AsMemory(FrameHeader.Size));
        return HelloFrame.TryRead(frame.AsSpan(FrameHeader.Size), out var hello) ? (hello.Listen, frame) : throw new IOException("not a Hello");
    }

    private async Task ReadAsync(Socket from, Memory<byte> to)
    {
        while (to.Length > 0)
        {
            int count = await from.ReceiveAsync(to, _over.Token);
            if (count == 0) throw new IOException("closed");
            to = to[count..];
        }
    }
}
