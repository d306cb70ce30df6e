using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;
using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Members;

/// <summary>A node without any protocol that sends each frame back: the loop and the link only.</summary>
internal sealed class NodeEcho : IFrameHandler, ILinkObserver, IAsyncDisposable
{
    private const FrameType Ping = FrameType.FirstLayer;
    private const FrameType Pong = FrameType.FirstLayer + 1;
    private readonly TaskCompletionSource<Histogram> _done = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Histogram _trips = new();
    private readonly NodeLoop _loop;
    private readonly byte[] _message;
    private Window _window;
    private ulong _number;
    private long _began;

    public NodeEcho(RunOptions options)
    {
        _message = new byte[options.Size];
        var settings = new NodeLoopOptions { Cluster = "perf", Spin = TimeSpan.FromMicroseconds(options.Spin), Credentials = options.Credentials("perf").Open("perf") };
        _loop = NodeLoop.Start(settings, node =>
        {
            node.Route(Ping, Pong, this);
            node.Observe(this);
        });
        _loop.Faulted += fault => _done.TrySetException(fault);
    }

    public int Port => EndPointText.Parse(_loop.Local.Text, nameof(Port)).Port;

    public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (header.Type == Ping) Send(peer, Pong, body);
        else OnPong(peer, body);
    }

    /// <summary>Opens a link to each peer that dialled in, since little may be queued for a stranger.</summary>
    public void OnLinkUp(int peer)
    {
        var links = _loop.Node.Links;
        links.Open(links.AddressOf(peer), links.NodeIdOf(peer));
    }

    public void OnLinkFault(int peer, LinkFault fault)
    {
    }

    public async Task<Histogram> MeasureAsync(int port, Window window)
    {
        _window = window;
        await Clock.UntilAsync(window.Start);
        await _loop.Node.PostAsync(new Begin(this, port));
        return await _done.Task;
    }

    public ValueTask DisposeAsync() => _loop.DisposeAsync();

    private void Next(int peer)
    {
        FilledBytes.Write(_message, ++_number, 0);
        _began = Clock.Now;
        Send(peer, Ping, _message);
    }

    private void OnPong(int peer, ReadOnlySpan<byte> body)
    {
        long now = Clock.Now;
        if (!FilledBytes.TryRead(body, out ulong number, out _) || number != _number)
        {
            _done.TrySetException(new InvalidDataException("The answer is not what was sent."));
            return;
        }
        if (_window.Contains(_began)) _trips.Record(now - _began);
        if (now < _window.Until) Next(peer);
        else _done.TrySetResult(_trips);
    }

    private void Send(int peer, FrameType type, ReadOnlySpan<byte> body)
    {
        var frame = _loop.Node.Links.Reserve(FrameHeader.Size + body.Length);
        int length = FrameHeader.Write(frame, type, 0, 0, body.Length);
        body.CopyTo(frame[FrameHeader.Size..]);
        _loop.Node.Links.Send(peer, length);
    }

    private sealed class Begin(NodeEcho echo, int port) : NodeCommand
    {
        public override void Run() => echo.Next(echo._loop.Node.Links.Open(new($"127.0.0.1:{port}")));

        public override void Abandon(Exception reason) => echo._done.TrySetException(reason);
    }
}
