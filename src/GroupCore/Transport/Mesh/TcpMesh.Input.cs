using GroupCore.Runtime;
using GroupCore.Transport.Sockets;
using GroupCore.Wire;

namespace GroupCore.Transport.Mesh;

/// <content>Polling, receiving, and the acknowledgements to come.</content>
internal sealed partial class TcpMesh
{
    private const int TurnBytes = 64 << 10;

    // Bytes that are read from all strangers in a turn, however many strangers there are: otherwise they would decide how long a turn takes, and timers fire and
    // answers leave only between turns. Each stranger has a share, so that none waits for those before it.
    private const int StrangersTurnBytes = 1 << 20;
    private const int LeastTurnBytes = 1 << 10;
    private readonly Queue<(LinkPeer Peer, long Due)> _acks = new();
    private readonly List<Slab> _dropped = [];
    private long _strangersInput;
    private bool _stopping;
    private int _work;

    private long NextAck => _acks.TryPeek(out var next) ? next.Due : long.MaxValue;

    /// <summary>Waits at most <paramref name="timeout"/> nanoseconds for something to come.</summary>
    public void Wait(long timeout) => _port.Wait(timeout);

    /// <summary>Reads what came, delivers its frames, fires what is due, and tells observers of link events. Returns how much happened.</summary>
    public int Poll()
    {
        _work = 0;
        _backlog.Measure(_node.Now);
        _port.Poll(this);
        while (_timers.FireOne(_node.Now)) _work++;
        while (NextAck <= _node.Now) FireAck();
        return _work + DrainEvents();
    }

    public void OnReadable(PortSocket socket)
    {
        var connection = (TcpConnection)socket.Owner!;
        // Observers are told first, so that a link that they ask about is as it was at the event, and not as this read leaves it.
        if (_events.Count > 0) _work += DrainEvents();
        if (IsHeld(connection)) _port.Pause(socket);
        else Read(connection, socket);
        if (connection.Input is { } input) Keep(connection, input);
        else if (connection.State != ConnectionState.Closed) CountAll(connection);
    }

    private static bool IsStranger(TcpConnection connection) => connection.Peer is null or { Session.IsForeign: true };

    private static bool IsHeld(TcpConnection connection) => connection is { State: ConnectionState.Up, Peer.IsHeld: true };

    private void Read(TcpConnection connection, PortSocket socket)
    {
        int budget = IsStranger(connection) ? Math.Clamp(StrangersTurnBytes / (_guests.Count + 1), LeastTurnBytes, TurnBytes) : TurnBytes;
        // Frames that had arrived while the link was held.
        if (connection is { IsBehind: true, Input: not null })
        {
            _work++;
            Parse(connection);
        }
        while (budget > 0 && connection.State != ConnectionState.Closed && !IsHeld(connection))
        {
            var room = Room(connection);
            if (room.Length > budget) room = room[..budget];
            int count = _port.Receive(socket, room);
            if (count < 0) Ended(connection);
            if (count <= 0) return;
            _work++;
            budget -= count;
            connection.End += count;
            Parse(connection);
            if (count < room.Length) return;
        }
    }

    public void OnWritable(PortSocket socket)
    {
        var connection = (TcpConnection)socket.Owner!;
        connection.IsBlocked = false;
        if (connection.Control.Count > 0) SendControl(connection);
        if (connection is { State: ConnectionState.Up, Peer: { } peer }) MarkDirty(peer);
    }

    public void OnFrame(LinkSession session, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        if (session.IsClosed || _stopping) return;
        long offences = _node.Counters.Offences;
        _node.Deliver(session.Peer, header, body);
        if (_node.Counters.TakeOffences(offences)) Blame(session.Peer);
        if (_events.Count > 0) session.IsInputHeld = true;
    }

    // A malformed frame came from this peer. After too many its link ends, and a confirmed node is muted.
    public void Blame(int number)
    {
        if (Find(number) is not { IsOver: false } peer || !_muted.Add(peer.Culprit, _node.Now, peer.IsConfirmed || peer.IsProven)) return;
        _node.Counters.Refuse(RefusalReason.Muted);
        TellMuted(peer.Address);
        Fail(peer, LinkFault.Rejected);
    }

    private void Parse(TcpConnection connection)
    {
        while (connection.State is not (ConnectionState.Closed or ConnectionState.Up or ConnectionState.Closing))
            if (!TryHandshake(connection, Unread(connection))) return;
        if (connection.State == ConnectionState.Closing) connection.Start = connection.End;
        var taken = LinkInput.Taken;
        do
        {
            // Observers run between two frames: what they learn about this link holds for the next frame.
            if (_events.Count > 0) _work += DrainEvents();
            if (connection.State != ConnectionState.Up) return;
            if (IsHeld(connection)) break;
            var session = connection.Peer!.Session;
            session.IsInputHeld = false;
            taken = session.Receive(Unread(connection), this, _node.Now, out int consumed);
            connection.Start += consumed;
        }
        while (taken == LinkInput.Taken && _events.Count > 0);
        var peer = connection.Peer!;
        connection.IsBehind = IsHeld(connection);
        if (taken is LinkInput.Malformed or LinkInput.Gap) Refuse(connection, RefusalReason.Framing);
        if (taken != LinkInput.Taken) return;
        peer.HeardAt = _node.Now;
        Acknowledged(peer);
        if (peer.Session.HasOutput(_node.Now)) MarkDirty(peer);
        else QueueAck(peer);
    }

    private static ReadOnlySpan<byte> Unread(TcpConnection connection) => connection.Input!.Bytes.AsSpan(connection.Start, connection.End - connection.Start);

    // A larger buffer is taken only when the smaller one is full of bytes of one frame, whatever that frame's length prefix says.
    private Span<byte> Room(TcpConnection connection)
    {
        var input = connection.Input ??= _pool.Rent(SlabPool.SmallBytes);
        int unread = connection.End - connection.Start, size = input.Bytes.Length;
        if (unread == 0)
        {
            (connection.Start, connection.End) = (0, 0);
            if (size > SlabPool.SmallBytes) Exchange(connection, SlabPool.SmallBytes);
        }
        else if (unread == size)
        {
            Exchange(connection, size + 1);
        }
        else if (connection.Start > 0 && size - connection.End < size / 2)
        {
            input.Bytes.AsSpan(connection.Start, unread).CopyTo(input.Bytes);
            (connection.Start, connection.End) = (0, unread);
        }
        return connection.Input.Bytes.AsSpan(connection.End);
    }

    // There are many connections, most of them idle, so a buffer is kept only for the beginning of a frame.
    private void Keep(TcpConnection connection, Slab input)
    {
        if (connection.Start == connection.End)
        {
            input.Release();
            connection.Input = null;
        }
        CountAll(connection);
    }

    private void CountAll(TcpConnection connection)
    {
        CountInput(connection);
        BoundStrangersInput();
        // No frame is being parsed here, so the buffers of strangers that gave way go back at once.
        ReleaseDropped();
    }

    private void BoundStrangersInput()
    {
        while (_strangersInput > LinkLimits.StrangersInputBytes && TryDisplace(static guest => guest.Connection is { StrangersInput: > 0 }))
        {
        }
    }

    private void ReleaseDropped()
    {
        foreach (var slab in _dropped) slab.Release();
        _dropped.Clear();
    }

    private void CountInput(TcpConnection connection)
    {
        int counted = connection is { Peer.Session.IsForeign: true, State: not ConnectionState.Closed } ? (connection.Input?.Bytes.Length ?? 0) + _port.Held(connection.Socket) : 0;
        _strangersInput += counted - connection.StrangersInput;
        connection.StrangersInput = counted;
    }

    private void Exchange(TcpConnection connection, int size)
    {
        var old = connection.Input!;
        connection.Input = _pool.Rent(size);
        old.Bytes.AsSpan(connection.Start, connection.End - connection.Start).CopyTo(connection.Input.Bytes);
        (connection.Start, connection.End) = (0, connection.End - connection.Start);
        old.Release();
    }

    private void Ended(TcpConnection connection)
    {
        _work++;
        bool within = (connection.AwaitsHello || connection.AwaitsAck) && connection.End > connection.Start;
        if (within) _node.Counters.Refuse(RefusalReason.Handshake);
        if (connection.State == ConnectionState.Up) Broken(connection, 0);
        else if (connection.Kind != ConnectionKind.Accepted) DialFailed(connection, LinkFault.Unreachable, 0);
        else Drop(connection);
    }

    private void QueueAck(LinkPeer peer)
    {
        long due = peer.Session.NextTimer;
        if (peer.IsAckQueued || due == long.MaxValue) return;
        peer.IsAckQueued = true;
        _acks.Enqueue((peer, due));
    }

    private void FireAck()
    {
        var (peer, _) = _acks.Dequeue();
        peer.IsAckQueued = false;
        if (peer.Session.HasOutput(_node.Now)) MarkDirty(peer);
        else QueueAck(peer);
    }
}
