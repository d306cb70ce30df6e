using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Mesh;

namespace Ida.Testing;

/// <summary>
/// The links of one life of a node in memory: sessions over a simulated network, without sockets. It answers its caller as the TCP mesh does.
/// </summary>
internal sealed partial class SimLinks(SimNode owner, Node node) : ISimCarrier, ILinks, ILinkUses, ILinkSink, ITimerTarget
{
    private readonly List<SimLinkEnd> _ends = [];
    private readonly Dictionary<string, List<SimLinkEnd>> _byAddress = new(StringComparer.Ordinal);
    private List<SimLinkEnd> _dirty = [], _writing = [];
    private bool _seeksRoom;
    private long _seekAt;

    /// <summary>What all links of this life hold.</summary>
    public LinkBacklog Held { get; } = new(owner.Simulation.Options.MostQueuedBytes);

    public NodeAddress Local => owner.Address;

    public NodeIdentity Identity => SimCredentials.NameOf(Local.Text);

    public NodeIdentity? IdentityOf(int peer) => NodeIdOf(peer) == 0 ? null : SimCredentials.NameOf(End(peer).Address.Text);

    public IReadOnlyList<SimLinkEnd> Ends => _ends;

    public IEnumerable<LinkUse> Uses => _ends.Where(static end => !end.IsOver)
        .Select(static end => new LinkUse(end.Address, end.NodeId, end.Session.Backlog, end.Phase, end.IsOpened, end.IsUnsettled, end.Session.IsForeign) { Unsent = end.Session.Unsent });

    public int Live => _ends.Count(static end => !end.IsOver);

    NodeBacklog ISimCarrier.Backlog => Held;

    public long SlabBytes => 0;

    public int EncodingBytes => 0;

    public int? Sockets => null;

    public int Timers => 0;

    public bool HasWork => _inbox.Count + _haveRoom.Count > 0 || _dirty.Count > 0;

    /// <summary>Ends have timers of their own.</summary>
    public long NextTimer => long.MaxValue;

    ILinks ISimCarrier.Links => this;

    public int Open(NodeAddress address, ulong nodeId = 0)
    {
        if (address.Text is null || !_byAddress.ContainsKey(address.Text)) address = EndPointText.Format(EndPointText.Parse(address.Text, nameof(address)));
        var end = Find(address, nodeId) ?? Add(address, nodeId);
        end.Open(nodeId);
        return end.Number;
    }

    public void Close(int peer) => End(peer).Close();

    public void GiveUp(int peer, LinkFault fault = LinkFault.Rejected) => End(peer).End(fault);

    public void Vouch(int peer) => End(peer).IsVouched = true;

    public void Hold(int peer) => End(peer).Holds++;

    public void Release(int peer) => End(peer).Release();

    /// <summary>Addresses at which, by a schedule, nobody answers a dial of this node: nothing confirms which node dials in from there.</summary>
    public HashSet<NodeAddress> Doubted { get; } = [];

    public bool IsConfirmed(int peer) => End(peer) is var end && !end.IsDoubted && !Doubted.Contains(end.Address);

    public bool IsSettled(int peer) => !End(peer).IsUnsettled;

    public long Received(int peer) => End(peer).Session.Received;

    public long Taken(int peer) => End(peer).Session.Taken;

    public void Probe(int peer) => End(peer).Probe();

    public ulong NodeIdOf(int peer) => End(peer) is { IsClosed: false } end ? end.ShownId : 0;

    public NodeAddress AddressOf(int peer) => End(peer) is { IsClosed: false } end ? end.Address : default;

    public long Backlog(int peer) => End(peer).Session.Backlog;

    public long Room(int peer) => End(peer).Session.Room();

    public bool MayExceed(int peer) => End(peer).Session.MayExceed;

    public bool WaitsForNode(int peer) => End(peer).Session.WaitsForNode;

    public NodeBacklog Quota => Held;

    public bool IsFull => Held.IsFull;

    public TimeSpan TimeToRoom => Held.TimeToRoom(owner.Node.Now);

    public Span<byte> Reserve(int size) => owner.Simulation.Buffer.Reserve(size);

    public Span<byte> Reserved(int size) => owner.Simulation.Buffer.Reserved(size);

    public void Send(int peer, int length) => Send([peer], length);

    public void Send(ReadOnlySpan<int> peers, int length)
    {
        var buffer = owner.Simulation.Buffer;
        buffer.Seal(length);
        foreach (int peer in peers[..owner.MaySend(buffer.Sealed(length), peers.Length)])
        {
            var end = End(peer);
            if (end.IsOver) continue;
            end.Session.IsForeign = end.IsForeign;
            end.Session.BeginFrame(owner.Node.Now);
            buffer.AppendShared(end.Session, length);
            // A link without a connection is written when it has one; no turn is needed before that.
            if (end.Session.Overflowed) end.End(LinkFault.Overflow);
            else if (end.Connected) MarkDirty(end);
        }
        buffer.Commit(length);
        if (Held.IsFull) SeekRoom(0);
    }

    public void MarkDirty(SimLinkEnd end)
    {
        if (end.IsDirty) return;
        end.IsDirty = true;
        _dirty.Add(end);
        owner.Wake();
    }

    /// <summary>The end of a turn: what there is to say to each peer leaves.</summary>
    public void Flush(long departure)
    {
        (_dirty, _writing) = (_writing, _dirty);
        foreach (var end in _writing)
        {
            end.IsDirty = false;
            if (!end.IsOver) end.Write(owner.Node.Now, departure);
        }
        _writing.Clear();
    }

    public void Die(bool hostAnswers, bool atFrame)
    {
        DropInbox();
        foreach (var end in _ends)
        {
            if (!end.IsOver) end.Die(hostAnswers, atFrame);
            // News may be lost, or never have been sent.
            end.Other?.Ask();
        }
    }

    public void LetGo()
    {
    }

    public void CutOff(SimHost other)
    {
        foreach (var end in _ends)
            if (end.Other?.Owner.Host == other) end.Ask();
    }

    public void Break(SimHost other)
    {
        foreach (var end in _ends)
            if (end.Other?.Owner.Host == other) end.Break();
    }

    public void Healed(Predicate<SimHost> to)
    {
        foreach (var end in _ends)
            if (end.Other is { } other && to(other.Owner.Host)) end.Healed();
    }

    /// <summary>Acknowledged or dropped bytes are room for senders that wait: on this link, and on others that wait only for the node's sum.</summary>
    public void Acknowledged(SimLinkEnd end)
    {
        Held.Measure(owner.Node.Now);
        if (end.Session.TryReopen()) ReceiveRoom(end);
        if (!Held.MayReopen) return;
        foreach (var session in Held.TakeWaiting())
            if (session.TryReopen()) ReceiveRoom(_ends[session.Peer]);
    }

    private void SeekRoom(long delay)
    {
        if (_seeksRoom) return;
        _seeksRoom = true;
        _seekAt = node.Now + delay;
        node.SetTimer(_seekAt, this, 0);
    }

    void ITimerTarget.OnTimer(long token)
    {
        _seeksRoom = false;
        int most = node.Now - _seekAt > LinkBacklog.SeekEvery ? 0 : LinkBacklog.MostAtOnce;
        for (int i = 0; i < most && Held.IsSought && _ends.FindAll(end => LinkBacklog.Gives(end.Session, end.Holds, end.HeardAt, node.Now)).MaxBy(static end => end.Session.Backlog) is { } giver; i++)
            giver.End(LinkFault.Rejected);
        if (Held.IsSought) SeekRoom(LinkBacklog.SeekEvery);
    }

    /// <summary>The end for a node that dialled: the one of the same link, one that waits for that node, or a new one.</summary>
    public SimLinkEnd Accept(SimLinkEnd dialler)
    {
        SimLinkEnd? found = null;
        if (_byAddress.TryGetValue(dialler.Owner.Address.Text, out var ends))
        {
            foreach (var end in ends)
            {
                if (end.IsOver || (end.NodeId != 0 && end.NodeId != dialler.Owner.Id)) continue;
                // The dialler starts anew: it has closed the link that is known here.
                if (end.Other is not null && end.Other != dialler) end.End(LinkFault.Rejected);
                else found = end;
            }
        }
        return found ?? Add(dialler.Owner.Address, dialler.Owner.Id);
    }

    private SimLinkEnd? Find(NodeAddress address, ulong nodeId)
    {
        if (!_byAddress.TryGetValue(address.Text, out var ends)) return null;
        for (int i = ends.Count - 1; i >= 0; i--)
        {
            var end = ends[i];
            if (!end.IsOver && (nodeId == 0 || end.NodeId == 0 || end.NodeId == nodeId)) return end;
        }
        return null;
    }

    private SimLinkEnd Add(NodeAddress address, ulong nodeId)
    {
        var end = new SimLinkEnd(owner, _ends.Count, address, nodeId);
        _ends.Add(end);
        if (!_byAddress.TryGetValue(address.Text, out var ends)) _byAddress[address.Text] = ends = [];
        ends.RemoveAll(static old => old.IsOver);
        ends.Add(end);
        return end;
    }

    private SimLinkEnd End(int peer) => (uint)peer < (uint)_ends.Count
        ? _ends[peer]
        : throw new ArgumentOutOfRangeException(nameof(peer), peer, $"No such peer: only {_ends.Count} peers have been opened.");
}
