using System.Net;
using GroupCore.Basics;
using GroupCore.Runtime;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Sockets;

namespace GroupCore.Transport.Mesh;

/// <summary>
/// Links over TCP: one connection per pair of nodes that talk, whichever dialled it. Belongs to the loop of its node.
/// </summary>
/// <remarks>
/// <para>Guarantee: that of <see cref="ILinks"/>. <see cref="LinkSession"/> carries the stream; this class keeps a connection under it.</para>
/// <para>Phases of a connection: connecting → Hello → HelloAck → frames. Hello names cluster, wire versions, the dialler, the node that is
/// meant, and both ends' names of the session; the received offsets in Hello and HelloAck say from where each end sends on. A dialler that does not
/// know which node it dials asks for the id first, on the same connection.</para>
/// <para>Failure cases. A connection breaks: both ends dial, the one that dialled before at once, the other after 10 ms. If nobody needs the link any more and
/// the connection was up for less than 1 s, pauses grow as below. Of two connections that cross, the one dialled by the lower id stays. A peer that this node
/// never asked for is not dialled, since only the peer itself says that this is its address: it comes back within 60 s or its link ends with
/// <see cref="LinkFault.Rejected"/>. Nobody listens: <see cref="LinkFault.Refused"/> at each dial, repeated after 10, 50, 250, 1000 ms. No answer in 1 s, or none
/// that a node gives: <see cref="LinkFault.Unreachable"/>, repeated likewise. Another id answers: <see cref="LinkFault.Replaced"/>. The other end has closed the
/// session (it does not know the names): <see cref="LinkFault.Rejected"/>. It belongs to another cluster: <see cref="LinkFault.WrongCluster"/>. The last three end
/// the link. Malformed framing ends the connection and is counted, and the next dial waits 1 s, whoever asks for it. More than 100 malformed frames of a node within
/// a minute end the link with <see cref="LinkFault.Rejected"/>. A node known to have sent them is refused and not dialled for a minute; otherwise its link ends
/// again at its next malformed frame (<see cref="MuteTable"/>).</para>
/// <para>Strangers. Until its Hello is read a connection is one of at most 64, has 5 s, and may send one frame of 1 KiB. A connection that breaks off within that
/// frame, or lets the time pass, is counted. After its Hello its peer is a guest until this node asks for it. There are 4,096 places for guests. Of the guests that
/// nobody vouched for within a minute, the one that has been silent longest gives way to a newcomer, or gives up its descriptor when a connection that comes or is
/// made finds none. The link of such a guest ends when more than 16 KiB wait for it, since it takes no answers. Of all bytes that such guests send, 1 MiB is read in
/// a turn, in equal shares. If no such guest can give up a descriptor, the node takes no connection for 100 ms, which is counted, and then goes on.</para>
/// <para>Names. With credentials an id belongs to the identity that a connection has shown (<see cref="NodeIdentity.IdOf"/>), and a node that says another id is refused. Then the rules below
/// say only whether a node can be reached where it says, and hold nothing up. Without credentials a node is who it says it is. Still a newcomer takes over nothing that stands.
/// (1) It takes over no session whose connection lives. Without the tokens of both ends it also takes over no session that waits for its next connection, unless
/// the peer's host says that nobody listens there, or no node has answered there for 5 s.
/// (2) It takes over no address: what a node says of where it listens decides nothing about other nodes. A caller that asks for an address gets the node that answers
/// there. If that node was asked for already, the caller gets its link, which is dialled where the node was asked for first, even while no node is there. Conversely,
/// a link opened for an address alone gets the id of the node that answered there, if no link to that node was asked for. A caller that later asks for this id gets
/// that link, whatever address it names, and the peer counts as confirmed.
/// (3) It takes over no id: a node that took the id of a node that is not connected here does not keep it once this node asks for that id. Frames to it wait, and
/// frames from it are not delivered, until the node that listens where it was asked for says whether it has this session, by both ends' tokens. A node that spoke with
/// each end in the other's name knows one of the tokens, and the question reveals none (<see cref="Confirm"/>). This holds wherever the guest said that it listens,
/// as a node may have several addresses. If no node answers at the address, the node that came first is believed. A guest is believed until it is asked for.</para>
/// <para>Source: links.md#the-normal-case, #when-things-fail.</para>
/// </remarks>
internal sealed partial class TcpMesh : ILinks, ILinkUses, ILinkSink, ISocketPortEvents, IDisposable
{
    private const long Millisecond = 1_000_000;
    private readonly Node _node;
    private readonly ISocketPort _port;
    private readonly string _cluster;
    private readonly ulong _start;
    private readonly Prng _random;
    private readonly SlabPool _pool = new();
    private readonly SendBuffer _buffer;
    private readonly TimerQueue _timers = new();
    private readonly PeerTable<LinkPeer> _peers = new();
    private readonly Dictionary<ulong, LinkPeer> _byId = [];
    private readonly Dictionary<NodeAddress, LinkPeer> _byAddress = [];
    private readonly List<TcpConnection> _strangers = [];
    private readonly List<TcpConnection> _connections = [];
    private readonly List<LinkPeer> _guests = [];
    private readonly Queue<(int Peer, LinkNews News, LinkFault Fault)> _events = new();
    private readonly LinkBacklog _backlog;
    private readonly MuteTable _muted;
    private readonly int _mostGuests;
    private readonly int _mostGuestNumbers;
    private readonly Func<ulong> _names;
    private int _numbers;

    /// <summary>Listens; throws <see cref="AddressInUseException"/>, <see cref="InsecureBindException"/>, <see cref="ArgumentException"/>, <see cref="IOException"/>.</summary>
    public TcpMesh(Node node, TcpMeshOptions options, ulong seed)
    {
        if (options.Port.Identity is null && !IPAddress.IsLoopback(options.Listen.Address)) throw new InsecureBindException(options.Listen.ToString());
        if (options.Advertise is null && !EndPointText.IsReachable(options.Listen.Address))
            throw new ArgumentException($"The node listens at {options.Listen}, which says nobody where to reach it: Advertise must name the address and port that others use.", nameof(options));
        _node = node;
        _port = options.Port;
        _cluster = options.Cluster;
        _start = options.Start;
        _random = new(seed);
        _buffer = new(_pool);
        _backlog = new(options.MostQueuedBytes);
        _muted = new(options.MostMalformed);
        _mostGuests = options.MostGuests;
        _mostGuestNumbers = options.MostGuestNumbers;
        _names = options.Names ?? Entropy.Next;
        var bound = _port.Listen(options.Listen);
        Bound = EndPointText.Format(bound);
        Local = options.Advertise is not { } advertise ? Bound : EndPointText.Format(advertise.Port > 0 ? advertise : new(advertise.Address, bound.Port));
    }

    public NodeAddress Local { get; }

    /// <summary>The address of the listening socket; differs from <see cref="Local"/> when another one is advertised.</summary>
    public NodeAddress Bound { get; }

    /// <summary>Whose connections are accepted, as a part of a sentence.</summary>
    public string Accepts => _port.Accepts;

    /// <summary>Links that are not over.</summary>
    public int Live { get; private set; }

    /// <summary>The links that are not over, including those to strangers, each once though several numbers may lead to it: for diagnosis.</summary>
    public IEnumerable<LinkUse> Uses
    {
        get
        {
            for (int number = _peers.Next(0); number >= 0; number = _peers.Next(number + 1))
                if (_peers[number] is { IsOver: false } peer && peer.Number == number)
                    yield return new(peer.Address, peer.NodeId, peer.Session.Backlog, peer.Phase, peer.IsOpened, peer.IsHeld, peer.Session.IsForeign)
                    {
                        Unsent = peer.Session.Unsent,
                        HeardAt = peer.IsKnown ? peer.HeardAt : null,
                    };
        }
    }

    /// <summary>Addresses, and other spellings of them, under which a link is found.</summary>
    public int Addresses => _byAddress.Count;

    /// <summary>Bytes of the slabs that connections, links and the encoding of frames hold.</summary>
    public long SlabBytes => _pool.RentedBytes;

    /// <summary>Bytes of the slab that the encoding of frames holds, which may be as large as any frame; for checks.</summary>
    public int EncodingBytes => _buffer.Bytes;

    /// <summary>Waiting timers of dials, deadlines and vouches; for checks.</summary>
    public int Timers => _timers.Count;

    /// <summary>When a dial, a deadline or an acknowledgement is due.</summary>
    public long NextTimer => Math.Min(_timers.NextDue, NextAck);

    /// <summary>Whether there is something to do at once: link events to tell observers of, or output to write.</summary>
    public bool HasWork => _events.Count > 0 || _dirty.Count > 0;

    /// <summary>Whether the next poll has something to tell without waiting.</summary>
    public bool HasNews => _port.HasNews;

    /// <summary>Whether every frame for a connected peer was acknowledged.</summary>
    public bool IsDrained
    {
        get
        {
            foreach (var connection in _connections)
                if (connection is { State: ConnectionState.Up, Peer.Session.Backlog: > 0 }) return false;
            return true;
        }
    }

    public int Open(NodeAddress address, ulong nodeId = 0)
    {
        var endPoint = EndPointText.Parse(address.Text, nameof(address));
        address = EndPointText.Format(endPoint);
        LinkPeer? peer;
        if (nodeId == 0)
        {
            peer = At(address);
        }
        else
        {
            if (_byId.TryGetValue(nodeId, out peer) && peer is { IsOpened: false, IsConfirmed: false } && peer.Address != address)
            {
                if (!peer.IsProven) return OpenBeside(peer, address, endPoint);
                // It is that node, wherever it says that it listens: from now on it is dialled where it is asked for.
                peer.ListensAt(address, endPoint);
                Reach(peer, address);
            }
            if (peer is null && (peer = At(address)) is not null && !TryClaim(peer, nodeId)) peer = null;
        }
        return AskFor(peer ?? Add(address, endPoint, nodeId, asked: true));
    }

    private int AskFor(LinkPeer peer)
    {
        bool first = !peer.IsOpened;
        AskedFor(peer);
        if (first) Confirm(peer);
        if (peer is { Phase: LinkPhase.Down, Attempt: 0 }) Dial(peer);
        return peer.Number;
    }

    public void Close(int peer)
    {
        if (Find(peer) is not { } closed) return;
        _peers[peer] = null;
        if (closed.Number != peer)
        {
            closed.Aliases.Remove(peer);
            return;
        }
        foreach (int alias in closed.Aliases) _events.Enqueue((alias, LinkNews.Fault, LinkFault.Rejected));
        End(closed);
        Reopen();
    }

    public void GiveUp(int peer, LinkFault fault = LinkFault.Rejected)
    {
        if (Find(peer) is { IsOver: false } given) Fail(given, fault);
    }

    public void Vouch(int peer)
    {
        if (Find(peer) is not { } known) return;
        known.VouchedUntil = _node.Now + VouchTime;
        Weigh(known);
        if (known.Place >= 0) WeighAgain(known.VouchedUntil + 1);
    }

    public bool IsConfirmed(int peer) => Find(peer) is { IsConfirmed: true };

    public bool IsSettled(int peer) => Find(peer) is { IsOver: false, IsConfirmed: true } or { IsOver: false, IsProven: true } or { Phase: LinkPhase.Up, IsUnanswered: true };

    public void Probe(int peer)
    {
        // A peer that nobody needs any more is probed only if it is connected and confirmed; a peer that is gone is not dialled for this.
        if (Find(peer) is not { IsOver: false } probed || probed is { IsOpened: false } and not { Phase: LinkPhase.Up, IsConfirmed: true }) return;
        probed.ReportedAt = long.MinValue;
        if (probed.Phase == LinkPhase.Down) Dial(probed);
        else if (probed is { Phase: LinkPhase.Up, Probing: null }) Dial(probed, ConnectionKind.Probe);
    }

    public ulong NodeIdOf(int peer) => Find(peer) is { IsKnown: true } found ? found.NodeId : 0;

    public NodeAddress AddressOf(int peer) => Find(peer)?.Address ?? default;

    public NodeIdentity? Identity => _port.Identity;

    public NodeIdentity? IdentityOf(int peer) => Find(peer)?.Identity;

    public long Backlog(int peer) => Find(peer)?.Session.Backlog ?? 0;

    public long Received(int peer) => Find(peer)?.Session.Received ?? 0;

    public long Taken(int peer) => Find(peer)?.Session.Taken ?? 0;

    public long Room(int peer) => Find(peer)?.Session.Room() ?? 0;

    /// <inheritdoc/>
    public bool MayExceed(int peer) => Find(peer)?.Session.MayExceed ?? false;

    /// <inheritdoc/>
    public bool WaitsForNode(int peer) => Find(peer)?.Session.WaitsForNode ?? false;

    public NodeBacklog Quota => _backlog;

    public bool IsFull => _backlog.IsFull;

    public TimeSpan TimeToRoom => _backlog.TimeToRoom(_node.Now);

    public Span<byte> Reserve(int size) => _buffer.Reserve(size);

    /// <inheritdoc/>
    public Span<byte> Reserved(int size) => _buffer.Reserved(size);

    public void Send(int peer, int length)
    {
        _buffer.Seal(length);
        if (Find(peer) is not { IsOver: false } to) return;
        BeginFrame(to);
        _buffer.AppendOnly(to.Session, length);
        Queued(to);
        if (_backlog.IsFull) SeekRoom(0);
    }

    public void Send(ReadOnlySpan<int> peers, int length)
    {
        _buffer.Seal(length);
        foreach (int peer in peers)
        {
            if (Find(peer) is not { IsOver: false } to) continue;
            BeginFrame(to);
            _buffer.AppendShared(to.Session, length);
            Queued(to);
        }
        _buffer.Commit(length);
        if (_backlog.IsFull) SeekRoom(0);
    }

    private void BeginFrame(LinkPeer to)
    {
        Weigh(to);
        to.Session.BeginFrame(_node.Now);
    }

    /// <summary>From now on no frame is delivered and no node dialled; what is queued may still leave.</summary>
    public void BeginStop() => _stopping = true;

    public void Dispose() => _port.Dispose();

    /// <summary>Releases all its slabs, after <see cref="Dispose"/>, so that a check then sees only slabs that nobody releases. Nothing is sent any more.</summary>
    public void LetGo()
    {
        for (int number = _peers.Next(0); number >= 0; number = _peers.Next(number + 1)) _peers[number]!.Session.Close();
        foreach (var connection in _connections) connection.Input?.Release();
        ReleaseDropped();
        _buffer.End();
    }

    /// <summary>Ends a <see cref="Wait"/>. From any thread.</summary>
    public void Wake() => _port.Wake();

    private LinkPeer? Find(int peer) => (uint)peer < (uint)_numbers
        ? _peers[peer]
        : throw new ArgumentOutOfRangeException(nameof(peer), peer, $"No such peer: only {_numbers} peers have been opened.");

    // The peer that was asked for at this address.
    private LinkPeer? At(NodeAddress address) => _byAddress.GetValueOrDefault(address);

    private void Reach(LinkPeer peer, NodeAddress address)
    {
        _byAddress[address] = peer;
        if (!peer.Reached.Contains(address)) peer.Reached.Add(address);
    }

    private LinkPeer Add(NodeAddress address, IPEndPoint endPoint, ulong nodeId, bool asked)
    {
        var session = new LinkSession(_numbers++, _pool, LinkCarrier.Connection, node: _backlog);
        var peer = new LinkPeer(this, session, address, endPoint) { NodeId = nodeId, Token = NewToken() };
        _peers[peer.Number] = peer;
        if (asked) Reach(peer, address);
        else BecomeGuest(peer);
        if (nodeId != 0) _byId[nodeId] = peer;
        Live++;
        return peer;
    }

    // Every dialler learns some tokens: they must not let it guess others.
    private ulong NewToken() => _names() | 1;

    private void Become(LinkPeer peer, LinkPhase next) => peer.Become(next, _node.Counters);

    private void Become(TcpConnection connection, ConnectionState next) => connection.Become(next, _node.Counters);

    // Until now any node that answers at the address was meant; now it must be this one.
    private bool TryClaim(LinkPeer peer, ulong nodeId)
    {
        if (peer.NodeId != 0 || (peer.MeantId != 0 && peer.MeantId != nodeId)) return false;
        peer.NodeId = nodeId;
        _byId[nodeId] = peer;
        return true;
    }

    // The node already has a number, under another spelling of its address: from now on both numbers mean it.
    private void Alias(LinkPeer peer, LinkPeer known)
    {
        bool someWait = peer.Session.IsShort;
        // A vouch for the peer also holds under its other number, and so for the frames that wait for it.
        known.VouchedUntil = Math.Max(known.VouchedUntil, peer.VouchedUntil);
        Weigh(known);
        if (known.Place >= 0 && !peer.IsOpened) WeighAgain(known.VouchedUntil + 1);
        peer.Session.MoveTo(known.Session);
        End(peer);
        // From now on a peer that only dialled in is dialled where it was asked for, and not where it says that it listens. A peer that was asked for before keeps its
        // address: any node may listen elsewhere and say that it is that peer.
        if (!known.IsOpened) known.ListensAt(peer.Address, peer.EndPoint);
        // Not if this link was released before it was known which node is there.
        if (peer.IsOpened) AskedFor(known);
        known.Holds += peer.Holds;
        Reach(known, peer.Address);
        if (known is { IsOpened: true, Phase: LinkPhase.Down, Attempt: 0 }) Dial(known);
        foreach (int number in (ReadOnlySpan<int>)[peer.Number, .. peer.Aliases])
        {
            if (_peers[number] is null) continue;
            _peers[number] = known;
            known.Aliases.Add(number);
            if (known.Connection is not null) _events.Enqueue((number, LinkNews.Up, default));
            // Producers that wait look at the other link now: it may never have been short, and would not tell them.
            if (someWait) _events.Enqueue((number, LinkNews.Room, default));
        }
        // Each of the two queues may hold as much as a link.
        if (known.Session.HoldsTooMuch) Fail(known, LinkFault.Overflow);
        else MarkDirty(known);
    }

    private void Fail(LinkPeer peer, LinkFault fault)
    {
        if (_peers[peer.Number] is null) return;
        End(peer);
        Raise(peer, fault);
        Reopen();
    }

    private void End(LinkPeer peer)
    {
        // Users close a failed link later: its end counts once.
        if (peer.IsOver) return;
        Become(peer, LinkPhase.Ended);
        if (_byId.TryGetValue(peer.NodeId, out var same) && same == peer) _byId.Remove(peer.NodeId);
        foreach (var address in peer.Reached)
            if (_byAddress.TryGetValue(address, out same) && same == peer) _byAddress.Remove(address);
        peer.Reached.Clear();
        LeaveGuests(peer);
        peer.Session.Close();
        Live--;
        _timers.Cancel(peer.Redial);
        DropAll(peer);
    }

    private void DropAll(LinkPeer peer)
    {
        foreach (var connection in (ReadOnlySpan<TcpConnection?>)[peer.Connection, peer.Dialling, peer.Probing, peer.Confirming])
            if (connection is not null) Drop(connection);
        (peer.Connection, peer.Dialling, peer.Probing, peer.Confirming, peer.AskBefore) = (null, null, null, null, 0);
    }

    private void Raise(LinkPeer peer, LinkFault fault) => Raise(peer, LinkNews.Fault, fault);

    private void Raise(LinkPeer peer, LinkNews news, LinkFault fault = default)
    {
        _events.Enqueue((peer.Number, news, fault));
        foreach (int alias in peer.Aliases) _events.Enqueue((alias, news, fault));
    }

    // Acknowledged or dropped bytes make room for producers that wait on this link, and on links that wait only for room of the node.
    private void Acknowledged(LinkPeer peer)
    {
        if (peer.Session.TryReopen()) Raise(peer, LinkNews.Room);
        Reopen();
    }

    private void Reopen()
    {
        if (!_backlog.MayReopen) return;
        foreach (var session in _backlog.TakeWaiting())
            if (session.TryReopen() && Find(session.Peer) is { } peer) Raise(peer, LinkNews.Room);
    }

    // Observers run between frames, never inside the call of a protocol that caused the event.
    private int DrainEvents()
    {
        int count = 0;
        while (_events.TryDequeue(out var happened))
        {
            if (_stopping || _peers[happened.Peer] is null) continue;
            if (happened.News == LinkNews.Fault) _node.LinkFailed(happened.Peer, happened.Fault);
            else if (happened.News == LinkNews.Room) _node.LinkHasRoom(happened.Peer);
            else _node.LinkUp(happened.Peer);
            count++;
        }
        return count;
    }
}
