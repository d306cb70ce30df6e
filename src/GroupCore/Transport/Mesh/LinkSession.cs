using System.Buffers;

namespace GroupCore.Transport.Mesh;

/// <summary>
/// One end of a reliable FIFO link to one node, without a socket and without a clock. Outlives the connections that carry it.
/// </summary>
/// <remarks>
/// <para>Guarantee: a frame appended here is given to the other end's <see cref="ILinkSink"/> exactly once and in order, as long as both
/// sessions live and something carries writes between them now and then.</para>
/// <para>Sending: frames stay in the queue until acknowledged. A host calls <see cref="Gather"/> for the next gathered write, which starts
/// with a <see cref="SegmentFrame"/>, and <see cref="Written"/> with what left. A write may leave in parts; it ends at a frame's end before
/// the next one starts.</para>
/// <para>Receiving: frames are parsed in place. Bytes below the received offset are duplicates and are skipped, bytes above it are a gap.</para>
/// <para>Acknowledging: every write tells what was received. When there is nothing to send, a bare segment does so, after
/// <see cref="AckBytes"/> or <see cref="AckDelay"/>.</para>
/// <para>Failure cases: a broken connection → <see cref="Detach"/>, later <see cref="Attach"/> with the other end's received offset, and the
/// cursor goes back to it. Lost, duplicated or reordered writes (<see cref="LinkCarrier.Datagrams"/>) → the receiver asks to resume at a gap, and
/// the sender goes back to the acknowledged offset when nothing is acknowledged for a while. A receiver that takes nothing → the queue
/// passes <see cref="LinkLimits.QueueBytes"/> and the session is <see cref="Overflowed"/>.</para>
/// <para>Source: links.md#a-link-outlives-its-connection, #every-write-says-where-it-belongs, #acknowledged-means-handled.</para>
/// </remarks>
internal sealed partial class LinkSession
{
    /// <summary>This many received and unacknowledged bytes are acknowledged at once.</summary>
    public const int AckBytes = 64 << 10;

    /// <summary>Received bytes are acknowledged after this time, in nanoseconds, when nothing else is sent.</summary>
    public const long AckDelay = 10_000_000;

    /// <summary>Most pieces of one write, the segment frame included.</summary>
    public const int MaxPieces = 64;

    // A larger frame is not copied: it is sent from the slab in which it was encoded.
    private const int CopyBytes = 2 << 10;

    // A queue may wait a long time, and each slice keeps a whole slab, with bytes of other links that no limit counts. So the shared slabs may have at most this
    // many times the bytes of the queue, plus MostShared.
    private const int MostSharedFactor = 4;
    private const int MostShared = 256 << 10;
    private const int WriteBytes = 256 << 10;
    private const long FirstRetransmit = 50_000_000;
    private const long LastRetransmit = 1_000_000_000;
    private const long ResumePause = 10_000_000;
    private const long Never = long.MaxValue;

    private readonly SlabPool _pool;
    private readonly LinkCarrier _carrier;
    private readonly long _queueBytes;
    private readonly LinkBacklog? _node;
    private readonly SliceQueue _queue = new();
    private readonly byte[] _segment = GC.AllocateArray<byte>(SegmentFrame.Size, pinned: true);
    private ArraySegment<byte>[]? _pieces;
    private Slab? _own;
    private int _ownUsed;
    private int _segmentLeft;
    private long _writeEnd;
    private long _written;
    private long _retransmit = FirstRetransmit;
    private long _retransmitAt = Never;
    private long _rewoundAt = long.MinValue;
    private BulkBudget _bulk = new();

    public LinkSession(int peer, SlabPool pool, LinkCarrier carrier, long queueBytes = LinkLimits.QueueBytes, LinkBacklog? node = null)
    {
        _node = node;
        Peer = peer;
        _pool = pool;
        _carrier = carrier;
        _queueBytes = queueBytes;
    }

    /// <summary>The host's number for the other end.</summary>
    public int Peer { get; }

    /// <summary>Whether something carries writes now.</summary>
    public bool IsAttached { get; private set; }

    /// <summary>Whether the session is over.</summary>
    public bool IsClosed { get; private set; }

    /// <summary>Whether the queue passed its limit; nothing is appended any more and the host ends the session.</summary>
    public bool Overflowed { get; private set; }

    /// <summary>
    /// Whether the other end is a stranger, which may ask and never take the answers. Therefore only little is queued for it, and its bytes do not count for the
    /// node: otherwise a few strangers could hold up what is sent to all others.
    /// </summary>
    public bool IsForeign
    {
        get;
        set
        {
            if (field == value || IsClosed) return;
            field = value;
            _node?.Add(value ? -Backlog : Backlog);
            if (value && !HoldsTooMuch) BecomeSmall();
        }
    }

    /// <summary>Whether more is queued than the limit allows, as when it was queued before the peer became a stranger.</summary>
    public bool HoldsTooMuch => Backlog > MostBacklog;

    /// <summary>Bytes queued and not acknowledged.</summary>
    public long Backlog => _queue.End - _queue.Head;

    /// <summary>When the queue, then empty, last got a frame.</summary>
    public long QueuedAt { get; private set; }

    /// <summary>A frame is about to be queued.</summary>
    public void BeginFrame(long now)
    {
        if (Backlog == 0) QueuedAt = now;
    }

    /// <summary>Queued bytes that have not left, or must leave again.</summary>
    public long Unsent => _queue.End - _queue.Cursor;

    /// <summary>Bytes that the other end has acknowledged.</summary>
    public long Taken => _queue.Head;

    /// <summary>Bytes of bulk that may be queued now; after 0 or less, <see cref="TryReopen"/> tells when there is room again.</summary>
    public long Room()
    {
        if (IsClosed) return 0;
        if (_node is { IsFull: true } && !_bulk.IsShort)
        {
            _bulk.Close();
            WaitForNode();
        }
        return _bulk.Room(Backlog);
    }

    /// <summary>Whether producers found no room and have not been told yet that there is room again.</summary>
    public bool IsShort => _bulk.IsShort;

    /// <summary>Whether one frame for several peers may be queued here beyond <see cref="Room"/>.</summary>
    public bool MayExceed => !IsClosed && _node is not { IsFull: true } && _bulk.MayExceed(Backlog);

    /// <summary>Whether producers found no room because the node as a whole had none, and that has not changed since.</summary>
    public bool WaitsForNode { get; private set; }

    // Whether it stands among the links that wait until the node has room.
    private bool _isListed;

    /// <summary>Whether producers that found no room may go on; true once for each shortage.</summary>
    public bool TryReopen()
    {
        if (!_bulk.IsShort || IsClosed) return false;
        if (_node is not { IsFull: true })
        {
            WaitsForNode = false;
            return _bulk.TryReopen(Backlog);
        }
        // The last bytes of this link may be acknowledged already: then no acknowledgement of its own would tell of room.
        WaitForNode();
        return false;
    }

    private void WaitForNode()
    {
        if (!_isListed) _node!.Wait(this);
        WaitsForNode = _isListed = true;
    }

    /// <summary>The link is no longer among those that wait for the node.</summary>
    public void LeaveWaiting() => WaitsForNode = _isListed = false;

    /// <summary>Whether a write is under way or can begin at <paramref name="now"/>.</summary>
    public bool HasOutput(long now) => IsAttached && (IsWriting || _queue.Cursor < _queue.End || AckDue <= now);

    /// <summary>When <see cref="OnTimer"/> or an acknowledgement is due; <see cref="long.MaxValue"/> for never.</summary>
    public long NextTimer => IsAttached ? Math.Min(_retransmitAt, AckDue) : Never;

    // The sum that counts its bytes; null for a stranger.
    private NodeBacklog? Counted => IsForeign ? null : _node;

    // The queue of a stranger and the segment frame before it fit into one small buffer, where writes are copied.
    private long MostBacklog => IsForeign ? LinkLimits.StrangerBytes - SegmentFrame.Size : _queueBytes;

    private bool IsWriting => _segmentLeft > 0 || _queue.Cursor < _writeEnd;

    /// <summary>Queues a copy of a small frame.</summary>
    public void AppendCopy(ReadOnlySpan<byte> frame)
    {
        if (!Admit(frame.Length)) return;
        if (_own is not null && _own.IsHeldOnce) _ownUsed = 0;
        if (_own is null || _own.Bytes.Length - _ownUsed < frame.Length)
        {
            ReleaseOwn();
            _own = _pool.Rent(Math.Max(frame.Length, IsForeign ? LinkLimits.StrangerBytes : SlabPool.SmallBytes));
        }
        frame.CopyTo(_own.Bytes.AsSpan(_ownUsed));
        _queue.Append(_own, _ownUsed, frame.Length, shared: false);
        _ownUsed += frame.Length;
    }

    /// <summary>
    /// Queues a frame that lies in a shared slab. It is copied for a stranger, and if the queue keeps too many shared slabs already: the peer may take it late
    /// or never, and until then it would keep a slab that the node's limits do not count.
    /// </summary>
    public void AppendSlice(Slab slab, int start, int length)
    {
        if (IsForeign || KeepsTooMuch(slab, length)) AppendCopy(slab.Bytes.AsSpan(start, length));
        else if (Admit(length)) _queue.Append(slab, start, length, shared: true);
    }

    private bool KeepsTooMuch(Slab slab, int length) =>
        !_queue.SharesLast(slab) && _queue.SharedBytes + slab.Bytes.Length > MostShared + (MostSharedFactor * (Backlog + length));

    /// <summary>Whether a frame for this peer alone is cheaper to copy than to send as a piece of its own.</summary>
    public static bool IsCopied(int length) => length <= CopyBytes;

    /// <summary>
    /// Something carries writes again, and the other end has received <paramref name="peerReceived"/> bytes: sending goes on from there.
    /// False when this session cannot have sent that much: then the other end means another session.
    /// </summary>
    public bool Attach(long peerReceived)
    {
        if (!CanAttach(peerReceived)) return false;
        DropWrite();
        Trim(peerReceived);
        _queue.Seek(peerReceived);
        IsAttached = true;
        BeginInput();
        return true;
    }

    /// <summary>Whether the other end can have received exactly this much: not less than it has acknowledged, not more than was sent.</summary>
    public bool CanAttach(long peerReceived) => !IsClosed && peerReceived >= _queue.Head && peerReceived <= _written;

    /// <summary>Nothing carries writes any more.</summary>
    public void Detach()
    {
        IsAttached = false;
        DropWrite();
        _bulk.Forget();
    }

    /// <summary>Whether frames have left.</summary>
    public bool HasSent => _written > 0;

    /// <summary>The other end was not the node that is meant, and no bytes went to it or were taken from it: the next other end starts at offset 0.</summary>
    public void BeginAnew()
    {
        Detach();
        Received = 0;
        BeginInput();
    }

    /// <summary>Ends the session and lets go of its slabs.</summary>
    public void Close()
    {
        Detach();
        IsClosed = true;
        Counted?.Remove(Backlog);
        _queue.Clear();
        ReleaseOwn();
    }

    /// <summary>Hands the queue to another session; only for a session that was never attached.</summary>
    public void MoveTo(LinkSession other)
    {
        long bytes = Backlog;
        other.QueuedAt = Math.Max(other.QueuedAt, QueuedAt);
        _queue.MoveTo(other._queue);
        // The bytes only move from one session of the node to another.
        Counted?.Remove(bytes);
        other.Counted?.Add(bytes);
        Close();
    }

    /// <summary>The pieces of the write that is under way or begins now, at most <see cref="MaxPieces"/>; 0 when there is nothing to say.</summary>
    public int Gather(Span<ArraySegment<byte>> pieces, long now)
    {
        if (!IsWriting)
        {
            if (!HasOutput(now)) return 0;
            _writeEnd = _queue.WriteEnd(MaxPieces - 1, WriteBytes);
            TakeAck(out long received, out bool resume, now);
            new SegmentFrame(_queue.Cursor, received, resume).Write(_segment);
            _segmentLeft = SegmentFrame.Size;
        }
        int count = 0;
        if (_segmentLeft > 0) pieces[count++] = new(_segment, SegmentFrame.Size - _segmentLeft, _segmentLeft);
        return count + _queue.Peek(pieces[count..], _writeEnd);
    }

    /// <summary>The next <paramref name="bytes"/> of the gathered pieces have left.</summary>
    public void Written(long bytes, long now)
    {
        int segment = (int)Math.Min(bytes, _segmentLeft);
        _segmentLeft -= segment;
        _queue.Advance(bytes - segment);
        _written = Math.Max(_written, _queue.Cursor);
        if (Backlog > 0) _bulk.OnWrite(_queue.End, Backlog, now);
        if (_carrier == LinkCarrier.Datagrams && _retransmitAt == Never && _written > _queue.Head) _retransmitAt = now + _retransmit;
    }

    /// <summary>Appends the next write, whole, to <paramref name="to"/>; false when there is none. For carriers of whole writes.</summary>
    public bool TryTakeWrite(IBufferWriter<byte> to, long now)
    {
        var pieces = _pieces ??= new ArraySegment<byte>[MaxPieces];
        int count = Gather(pieces, now);
        long bytes = 0;
        foreach (var piece in pieces.AsSpan(0, count))
        {
            to.Write(piece);
            bytes += piece.Count;
        }
        Written(bytes, now);
        return count > 0;
    }

    /// <summary>Sends again what was not acknowledged in time, over datagrams.</summary>
    public void OnTimer(long now)
    {
        if (!IsAttached || now < _retransmitAt) return;
        _retransmit = Math.Min(_retransmit * 2, LastRetransmit);
        _retransmitAt = Never;
        if (_written > _queue.Head) Rewind(now);
    }

    private bool Admit(int length)
    {
        if (IsClosed || Overflowed) return false;
        if (Backlog + length <= MostBacklog)
        {
            Counted?.Add(length);
            return true;
        }
        Overflowed = true;
        return false;
    }

    // False when the other end acknowledges what it cannot have received.
    private bool OnAcknowledged(long received, bool resume, long now)
    {
        if (received > _written) return false;
        if (received > _queue.Head)
        {
            // Safe while a write is under way: the slices that are released were written, since only written bytes can be acknowledged.
            Trim(received);
            _bulk.OnAcknowledged(received, now);
            _retransmit = FirstRetransmit;
            _retransmitAt = _written > received && _carrier == LinkCarrier.Datagrams ? now + _retransmit : Never;
        }
        if (resume && received == _queue.Head && received < _queue.Cursor && now >= _rewoundAt + ResumePause) Rewind(now);
        return true;
    }

    private void Trim(long offset)
    {
        Counted?.Remove(offset - _queue.Head);
        _queue.TrimTo(offset);
        // An empty queue returns a large slab to the pool, for links that need it. A stranger's queue returns any slab, since strangers are many and most ask once.
        if (Backlog == 0 && (IsForeign || _own?.Bytes.Length > SlabPool.SmallBytes)) ReleaseOwn();
    }

    // A stranger may never take its queue, which lies in shared slabs and in slabs larger than a stranger's: moves the queue into one small slab.
    private void BecomeSmall()
    {
        ReleaseOwn();
        if (Backlog == 0) return;
        (_own, _ownUsed) = (_pool.Rent(LinkLimits.StrangerBytes), (int)Backlog);
        _queue.MoveInto(_own);
    }

    private void ReleaseOwn()
    {
        _own?.Release();
        (_own, _ownUsed) = (null, 0);
    }

    private void Rewind(long now)
    {
        DropWrite();
        _rewoundAt = now;
        _queue.Seek(_queue.Head);
    }

    private void DropWrite()
    {
        _segmentLeft = 0;
        _writeEnd = 0;
    }
}
