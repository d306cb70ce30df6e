using System.Net;
using GroupCore.Runtime;
using GroupCore.Transport.Sockets;

namespace GroupCore.Transport;

/// <summary>
/// Links over TCP: one connection per pair of nodes that talk, whoever dialled it. Belongs to the loop of its node.
/// </summary>
/// <remarks>
/// <para>Guarantee: that of <see cref="ILinks"/>; the stream itself is <see cref="LinkSession"/>'s work, this class keeps a connection under it.</para>
/// <para>Phases of a connection: connecting → Hello → HelloAck → frames. Hello names cluster, wire versions, the dialler, the node that is
/// meant, and both ends' names of the session; the received offsets in Hello and HelloAck say from where each end sends on. A dialler that does not
/// know whom it dials asks for the id first, on the same connection.</para>
/// <para>Failure cases. Connection breaks: both ends dial, the one that dialled before at once, the other after 10 ms; where nobody
/// needs the link any more and it was up for less than 1 s, after pauses that grow as below; of two connections that cross, the one
/// dialled by the lower id stays. A peer that this node never asked for is not dialled, since where it listens is what it says of itself: it comes back within 60 s or its link ends with <see cref="LinkFault.Rejected"/>. Nobody listens: <see cref="LinkFault.Refused"/> at each dial, repeated after 10, 50, 250,
/// 1000 ms. No answer in 1 s, or none of a node: <see cref="LinkFault.Unreachable"/>, repeated likewise. Another id answers: <see cref="LinkFault.Replaced"/>. The other end has
/// closed the session (it does not know the names): <see cref="LinkFault.Rejected"/>; it belongs to another cluster:
/// <see cref="LinkFault.WrongCluster"/>. The last three end the link.
/// Malformed framing ends the connection, is counted, and the next dial waits 1 s, whoever asks for it; more than 100 malformed frames of a node within a
/// minute end the link with <see cref="LinkFault.Rejected"/>, and for a minute the node is refused and not dialled if it is known that they
/// were its own, else it goes at the next one (<see cref="MuteTable"/>).</para>
/// <para>Strangers: until its Hello is read a connection is one of at most 64, has 5 s, and may send one frame of 1 KiB. One that breaks off
/// within it, or lets the time pass, is counted. Behind its Hello it is a guest until this node asks for it, and there are 4,096 places: of those
/// that nobody vouched for within a minute the most silent one gives way to a newcomer, or leaves its descriptor when there is none for a
/// connection that comes or is made; its link ends when more than 16 KiB wait for it, since it takes no answers. Of what they send 1 MiB is read in a
/// turn, in equal shares. Without such a guest the node
/// then takes no connection for 100 ms, which is counted, and goes on.</para>
/// <para>Names: without credentials a node is who it says it is. Still nobody takes over what stands: neither a session whose connection
/// lives, nor, without knowing the tokens of both ends, one that waits for its connection to be made again, unless its
/// host says that nobody listens, or nobody has answered there for 5 s; nor an address: what a node
/// says of where it listens is believed of nobody else, so that who asks for an address gets whoever answers there, and where that is a node that was
/// asked for already, its link, which is dialled where it was asked for first, also while nobody is there. The other way round: with who answered under an
/// id where an address alone was asked for, and of whose node no link was asked for then, goes who asks for that id later, whatever the address, and it counts
/// as confirmed. Nor does who took the
/// name of a node that is not connected here keep it once this node asks for that node: what is sent waits until whoever listens where it is
/// asked for says whether it has this session, by both ends' tokens, of which one who spoke with each end in the name of the other knows one, and
/// which the question does not tell (<see cref="Confirm"/>), and what came is not delivered before, wherever it said that it listens, since a node may have several addresses. Where
/// nobody answers at the address whoever came first is believed, and so is, until it is asked for, a guest.</para>
/// <para>Source: links.md#the-normal-case, #when-things-fail.</para>
/// </remarks>
internal sealed partial class TcpMesh : ILinks, ILinkSink, ISocketPortEvents, IDisposable
{
    private const long Millisecond = 1_000_000;
    private readonly Node _node;
    private readonly ISocketPort _port;
    private readonly string _cluster;
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
    private readonly NodeBacklog _backlog;
    private readonly MuteTable _muted;
    private readonly int _mostGuests;
    private readonly int _mostGuestNumbers;
    private readonly Func<ulong> _names;
    private int _numbers;

    /// <summary>Listens; throws <see cref="AddressInUseException"/>, <see cref="InsecureBindException"/>, <see cref="IOException"/>.</summary>
    public TcpMesh(Node node, TcpMeshOptions options, ulong seed)
    {
        if (!IPAddress.IsLoopback(options.Listen.Address)) throw new InsecureBindException(options.Listen.ToString());
        _node = node;
        _port = options.Port;
        _cluster = options.Cluster;
        _random = new(seed);
        _buffer = new(_pool);
        _backlog = new(options.MostQueuedBytes);
        _muted = new(options.MostMalformed);
        _mostGuests = options.MostGuests;
        _mostGuestNumbers = options.MostGuestNumbers;
        _names = options.Names ?? NodeLoopOptions.RandomNumber;
        Bound = EndPointText.Format(_port.Listen(options.Listen));
        Local = options.Advertise ?? Bound;
    }

    public NodeAddress Local { get; }

    /// <summary>The address of the listening socket; differs from <see cref="Local"/> when another one is advertised.</summary>
    public NodeAddress Bound { get; }

    /// <summary>Links that are not over.</summary>
    public int Live { get; private set; }

    /// <summary>Bytes that wait on the link on which most do, foreign ones too. Looks at all links: for reports.</summary>
    public long MostQueued
    {
        get
        {
            long most = 0;
            for (int number = _peers.Next(0); number >= 0; number = _peers.Next(number + 1))
                if (_peers[number] is { IsOver: false } peer) most = Math.Max(most, peer.Session.Backlog);
            return most;
        }
    }

    /// <summary>Addresses, and other spellings of them, under which a link is found.</summary>
    public int Addresses => _byAddress.Count;

    /// <summary>Bytes of the slabs that connections, links and the encoding of frames hold.</summary>
    public long SlabBytes => _pool.RentedBytes;

    /// <summary>When a dial, a deadline or an acknowledgement is due.</summary>
    public long NextTimer => Math.Min(_timers.NextDue, NextAck);

    /// <summary>Whether there is something to do at once: links to report or output to write.</summary>
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
            if (_byId.TryGetValue(nodeId, out peer) && peer is { IsOpened: false, IsConfirmed: false } && peer.Address != address) return OpenBeside(peer, address, endPoint);
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

    public bool IsSettled(int peer) => Find(peer) is { IsOver: false, IsConfirmed: true } or { Phase: LinkPhase.Up, IsUnanswered: true };

    public void Probe(int peer)
    {
        // Whoever is there and was once asked for can be asked when nobody needs it any more; one that went is not dialled for that.
        if (Find(peer) is not { IsOver: false } probed || probed is { IsOpened: false } and not { Phase: LinkPhase.Up, IsConfirmed: true }) return;
        probed.ReportedAt = long.MinValue;
        if (probed.Phase == LinkPhase.Down) Dial(probed);
        else if (probed is { Phase: LinkPhase.Up, Probing: null }) Dial(probed, ConnectionKind.Probe);
    }

    public ulong NodeIdOf(int peer) => Find(peer) is { IsKnown: true } found ? found.NodeId : 0;

    public NodeAddress AddressOf(int peer) => Find(peer)?.Address ?? default;

    public long Backlog(int peer) => Find(peer)?.Session.Backlog ?? 0;

    public long Received(int peer) => Find(peer)?.Session.Received ?? 0;

    public long Taken(int peer) => Find(peer)?.Session.Taken ?? 0;

    public long Room(int peer) => Find(peer)?.Session.Room() ?? 0;

    /// <inheritdoc/>
    public bool MayExceed(int peer) => Find(peer)?.Session.MayExceed ?? false;

    public NodeBacklog Quota => _backlog;

    public bool IsFull => _backlog.IsFull;

    public TimeSpan TimeToRoom => _backlog.TimeToRoom(_node.Now);

    public Span<byte> Reserve(int size) => _buffer.Reserve(size);

    public void Send(int peer, int length)
    {
        _buffer.Seal(length);
        if (Find(peer) is not { IsOver: false } to) return;
        Weigh(to);
        _buffer.AppendOnly(to.Session, length);
        Queued(to);
    }

    public void Send(ReadOnlySpan<int> peers, int length)
    {
        _buffer.Seal(length);
        foreach (int peer in peers)
        {
            if (Find(peer) is not { IsOver: false } to) continue;
            Weigh(to);
            _buffer.AppendShared(to.Session, length);
            Queued(to);
        }
        _buffer.Commit(length);
    }

    /// <summary>Delivers no frame and dials nobody any more; what is queued may still leave.</summary>
    public void BeginStop() => _stopping = true;

    public void Dispose() => _port.Dispose();

    /// <summary>Ends a <see cref="Wait"/>. From any thread.</summary>
    public void Wake() => _port.Wake();

    private LinkPeer? Find(int peer) => (uint)peer < (uint)_numbers
        ? _peers[peer]
        : throw new ArgumentOutOfRangeException(nameof(peer), peer, $"No such peer: {_numbers} were opened.");

    // Who was reached there.
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

    // Each dialler hears some: none may tell the others.
    private ulong NewToken() => _names() | 1;

    private void Become(LinkPeer peer, LinkPhase next) => peer.Become(next, _node.Counters);

    private void Become(TcpConnection connection, ConnectionState next) => connection.Become(next, _node.Counters);

    // Whoever answers at the address was meant before; now it must be this node.
    private bool TryClaim(LinkPeer peer, ulong nodeId)
    {
        if (peer.NodeId != 0 || (peer.MeantId != 0 && peer.MeantId != nodeId)) return false;
        peer.NodeId = nodeId;
        _byId[nodeId] = peer;
        return true;
    }

    // The node has a number already, under another spelling of its address: both numbers mean it from now on.
    private void Alias(LinkPeer peer, LinkPeer known)
    {
        bool someWait = peer.Session.IsShort;
        // Who was needed until just now is so under its other number, and what waits for it as well.
        known.VouchedUntil = Math.Max(known.VouchedUntil, peer.VouchedUntil);
        Weigh(known);
        if (known.Place >= 0 && !peer.IsOpened) WeighAgain(known.VouchedUntil + 1);
        peer.Session.MoveTo(known.Session);
        End(peer);
        // Who only dialled in is dialled where it was asked for, and not where it says that it listens. Who was asked for is dialled there alone:
        // anybody may listen elsewhere and say that he is that node.
        if (!known.IsOpened) known.ListensAt(peer.Address, peer.EndPoint);
        // It may have been released before it was known who is there.
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
            // The other link may never have been short: they look there now.
            if (someWait) _events.Enqueue((number, LinkNews.Room, default));
        }
        MarkDirty(known);
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
        // One that failed is closed by its users later: it counts once.
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

    // Acknowledged or dropped bytes are room for those that wait: for this peer, and for others that wait only for the node's sum.
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
