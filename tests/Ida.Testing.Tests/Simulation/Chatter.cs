using System.Buffers.Binary;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;

namespace Ida.Testing.Tests;

/// <summary>A trivial protocol: sends numbered frames to peers on a timer. Receivers check that the numbers of each life of a sender come once and in order.</summary>
internal sealed class Chatter : IFrameHandler, ITimerTarget, ILinkObserver, ITurnParticipant
{
    public const FrameType Type = FrameType.FirstLayer;
    private readonly SimNode _host;
    private readonly INode _node;
    private readonly Dictionary<int, uint> _sent = [];
    private readonly int _payload;
    private long _interval;

    public Chatter(SimNode host, int payload = 32)
    {
        (_host, _node, _payload) = (host, host.Node, payload);
        _node.Route(Type, Type, this);
        _node.Observe(this);
        _node.AtEndOfTurn(this);
    }

    public static void Attach(SimNode host) => _ = new Chatter(host);

    public List<int> Peers { get; } = [];
    public Dictionary<int, uint> Received { get; } = [];
    public List<(int Peer, LinkFault? Fault)> Links { get; } = [];
    public List<long> TimerTimes { get; } = [];
    public List<int> BatchSizes { get; } = [];
    public string? Broken { get; private set; }
    public long Deliveries { get; private set; }
    public bool Answers { get; set; }
    private int _batch;

    public bool Silent { get; set; }

    public int Open(SimNode to, ulong id = 0) => Open(to.Address, id);

    public int Open(NodeAddress to, ulong id = 0)
    {
        int peer = _node.Links.Open(to, id);
        if (!Peers.Contains(peer)) Peers.Add(peer);
        return peer;
    }

    /// <summary>Sends a frame to each peer every <paramref name="interval"/> on average.</summary>
    public void Start(TimeSpan interval)
    {
        _interval = interval.Ticks * 100;
        _node.SetTimer(_node.Now + _node.Random.Next(1, _interval), this, 0);
    }

    public uint SentTo(int peer) => _sent.GetValueOrDefault(peer);

    public void Send(int peer)
    {
        uint number = _sent.GetValueOrDefault(peer);
        _sent[peer] = number + 1;
        var frame = _node.Links.Reserve(FrameHeader.Size + 4 + _payload);
        int length = FrameHeader.Write(frame, Type, 0, 0, 4 + _payload);
        BinaryPrimitives.WriteUInt32LittleEndian(frame[FrameHeader.Size..], number);
        frame[(FrameHeader.Size + 4)..length].Fill((byte)_host.Id);
        _node.Links.Send(peer, length);
    }

    public void OnFrame(int peer, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        Deliveries++;
        _batch++;
        uint number = BinaryPrimitives.ReadUInt32LittleEndian(body), expected = Received.GetValueOrDefault(peer);
        if (number != expected) Broken ??= $"{_host.Name} expected {expected} of peer {peer} and got {number}";
        if (body.Length != _payload + 4 || body[4..].ContainsAnyExcept((byte)_node.Links.NodeIdOf(peer))) Broken ??= $"{_host.Name} got other bytes than peer {peer} sent";
        Received[peer] = number + 1;
        if (Answers) Send(peer);
    }

    public void OnTimer(long token)
    {
        TimerTimes.Add(_node.Now);
        if (Silent) return;
        foreach (int peer in Peers) Send(peer);
        _node.SetTimer(_node.Now + _node.Random.Next(1, 2 * _interval), this, 0);
    }

    public void OnLinkUp(int peer) => Links.Add((peer, null));

    public void OnLinkFault(int peer, LinkFault fault) => Links.Add((peer, fault));

    public void EndOfTurn()
    {
        if (_batch > 0) BatchSizes.Add(_batch);
        _batch = 0;
    }
}
