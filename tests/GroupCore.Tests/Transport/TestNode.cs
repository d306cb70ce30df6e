using System.Collections.Concurrent;
using GroupCore.Hosting;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;

namespace GroupCore.Tests.Transport;

/// <summary>A node on real sockets that records what happens to its links and checks numbered frames.</summary>
internal sealed class TestNode : IFrameHandler, ILinkObserver, IAsyncDisposable
{
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(120);
    private readonly ConcurrentQueue<(int Peer, LinkFault? Fault)> _events = new();
    private readonly ConcurrentDictionary<LinkFault, int> _faults = new();
    private readonly SemaphoreSlim _changed = new(0);
    private INode _node = null!;
    private long _got;

    public TestNode(SocketPortKind port, string cluster = "test", string listen = "127.0.0.1:0", string? advertise = null, TimeSpan? spin = null, int mostGuests = LinkLimits.Guests) =>
        Loop = NodeLoop.Start(new() { Cluster = cluster, Listen = listen, Advertise = advertise, Port = port, Spin = spin ?? TimeSpan.FromMicroseconds(20), MostGuests = mostGuests }, node =>
        {
            _node = node;
            node.Counters.ThrowsForbidden = true;
            node.Route(FrameType.Data, FrameType.Data, this);
            node.Observe(this);
        });

    public NodeLoop Loop { get; }

    public NodeAddress Address => Loop.Local;

    public INode Node => _node;

    /// <summary>What to do with a frame, on the loop.</summary>
    public Action<int, FrameHeader, byte[]>? OnData { get; set; }

    /// <summary>What to do when a link fails, on the loop.</summary>
    public Action<int, LinkFault>? OnFault { get; set; }

    /// <summary>Gets the frames instead, when set before any came.</summary>
    public IFrameHandler? Redirect { get; set; }

    public long Got => Volatile.Read(ref _got);

    public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (Redirect is { } other)
        {
            other.OnFrame(peer, header, body);
            return;
        }
        OnData?.Invoke(peer, header, body.ToArray());
        Volatile.Write(ref _got, _got + 1);
        _changed.Release();
    }

    public void OnLinkUp(int peer) => Record(peer, null);

    public void OnLinkFault(int peer, LinkFault fault)
    {
        OnFault?.Invoke(peer, fault);
        Record(peer, fault);
    }

    /// <summary>Runs on the loop and waits for it.</summary>
    public Task<T> Do<T>(Func<INode, T> work)
    {
        var command = new Work<T>(_node, work);
        Assert.True(_node.TryPost(command));
        return command.Done.WaitAsync(Patience);
    }

    public Task Do(Action<INode> work) => Do(node =>
    {
        work(node);
        return 0;
    });

    public Task<int> Open(NodeAddress address, ulong id = 0) => Do(node => node.Links.Open(address, id));

    public Task Send(int peer, uint number, int size) => Do(node => Write(node, [peer], number, size));

    /// <summary>Sends a frame. Peers that only dialled in are vouched for, as processes that are known, unless the caller says otherwise.</summary>
    public static void Write(INode node, ReadOnlySpan<int> peers, uint number, int size, bool strangers = false)
    {
        if (!strangers)
            foreach (int peer in peers) node.Links.Vouch(peer);
        var frame = node.Links.Reserve(FrameHeader.Size + size);
        FrameHeader.Write(frame, FrameType.Data, 0, number, size);
        frame[FrameHeader.Size..].Fill((byte)number);
        if (peers.Length == 1) node.Links.Send(peers[0], FrameHeader.Size + size);
        else node.Links.Send(peers, FrameHeader.Size + size);
    }

    /// <summary>Waits for the next event of this kind and skips those before it.</summary>
    public async Task<int> Saw(LinkFault? fault, int? peer = null)
    {
        int found = -1;
        await Until(() =>
        {
            while (found < 0 && _events.TryDequeue(out var happened))
                if (happened.Fault == fault && (peer is null || peer == happened.Peer)) found = happened.Peer;
            return found >= 0;
        }, $"no {fault?.ToString() ?? "up"} of peer {peer}");
        return found;
    }

    /// <summary>Waits until a condition holds; it is looked at when something happens, and now and then.</summary>
    public async Task Until(Func<bool> condition, string otherwise)
    {
        using var patience = new CancellationTokenSource(Patience);
        while (!condition())
        {
            Assert.False(patience.IsCancellationRequested, otherwise);
            await _changed.WaitAsync(TimeSpan.FromMilliseconds(5));
        }
    }

    /// <summary>How often links were reported with this fault.</summary>
    public int Faults(LinkFault fault) => _faults.GetValueOrDefault(fault);

    public long Refused(RefusalReason reason) => _node.Counters.Refused(reason);

    public async ValueTask DisposeAsync()
    {
        await Loop.StopAsync();
        _changed.Dispose();
        Assert.Null(Loop.Fault);
    }

    private void Record(int peer, LinkFault? fault)
    {
        if (fault is { } happened) _faults.AddOrUpdate(happened, 1, static (_, count) => count + 1);
        _events.Enqueue((peer, fault));
        _changed.Release();
    }

    private sealed class Work<T>(INode node, Func<INode, T> work) : NodeCommand
    {
        private readonly TaskCompletionSource<T> _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task<T> Done => _done.Task;

        public override void Run()
        {
            try
            {
                _done.SetResult(work(node));
            }
            catch (Exception error)
            {
                _done.SetException(error);
            }
        }

        public override void Abandon(Exception reason) => _done.SetException(reason);
    }
}
