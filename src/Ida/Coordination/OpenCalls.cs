using GroupCore.Basics;

namespace Ida.Coordination;

/// <summary>
/// The calls of this member that are in flight, or wait for a place, and the places and bytes that they may take.
/// </summary>
/// <remarks>
/// An operation may wait for room, for a member to install the view, or (a retry) for an answer of the member of its session. Meanwhile it gives
/// back its share of <see cref="DhtMemberOptions.MaxInFlight"/> and <see cref="DhtMemberOptions.MaxInFlightBytes"/>, and counts as waiting. The operations that wait for one
/// member may be only a part of all that wait: so a member that is late, or that takes or answers nothing, does not stop operations on other members. An operation
/// beyond that part is refused, or keeps its share if it was sent. When its wait is over, an operation takes a free place before calls that have not begun. But the operations
/// that are due leave those calls every second place and half of the bytes, unless one of them needs more; the largest need counts until none is due (<see cref="ByteShares"/>).
/// Answers beyond twice the limit are refused, so that the limit holds whatever is stored.
/// </remarks>
internal sealed class OpenCalls(DhtState state, OpenPuts puts)
{
    private const int WaitingFactor = 16;
    private DrainRate _endedOps = new(), _endedBytes = new();
    private long _waitingBytes;

    /// <summary>Those in flight; they may wait for one member.</summary>
    public OperationList InFlight;

    /// <summary>Those that wait for a place.</summary>
    public WaitingLine Waiting { get; } = new();

    public ByteShares Shares { get; } = new(state.Own.MaxInFlightBytes);

    public ParkedOperations Parked { get; } = new();

    public bool BringsTooMuch(ClientOperation op) => !op.Kind.Changes && op.AnswerBytes > 0 && Shares.AreExceeded && OnTheWay > 1;

    public int OnTheWay => InFlight.Count - Parked.Count;

    // Thousands may be due at once: without this bound, calls on other members would wait for all of them.
    public bool HasPlace(ClientOperation op) => (!op.Kind.Changes || puts.InWindow) && OnTheWay + Math.Min(Shares.Due, (state.Own.MaxInFlight + 1) / 2) < state.Own.MaxInFlight
        && (Shares.FitBeside(op) || (Shares.Due == 0 && OnTheWay == 0));

    /// <summary>Whether an operation that gave its share back may have it again.</summary>
    public bool MayResume(ClientOperation op) => OnTheWay < state.Own.MaxInFlight && (Shares.Fit(op) || OnTheWay == 0);

    /// <summary>Whether waiting operations come before it. If only puts wait, and only for the window, reads pass them.</summary>
    public bool Queues(ClientOperation op) => Waiting.Count > 0 && (op.Kind.Changes || Waiting.Reads > 0 || puts.InWindow);

    /// <summary>The waiting operation whose turn it is: the first one, or the first read if no put may begin.</summary>
    public ClientOperation? NextWaiting()
    {
        var first = Waiting.First;
        return first is not { Kind.Changes: true } || puts.InWindow ? first : Waiting.FirstRead;
    }

    /// <summary>Operations that wait, for a place or for one member.</summary>
    public int WaitingOperations => Waiting.Count + Parked.Count;

    public long WaitingBytes => _waitingBytes + Parked.Bytes;

    private long MostWaiting => (long)state.Own.MaxInFlight * WaitingFactor;

    // One operation may wait whatever its size: while small calls keep coming, room for many bytes at once would never be free.
    public bool MayWait(ClientOperation op) => WaitingOperations < MostWaiting && (Waiting.Count == 0 || WaitingBytes + op.AskedBytes <= state.Own.MaxInFlightBytes);

    /// <summary>
    /// Whether an operation may give its share back to wait for a member. The first may always, and so may one large operation beside others. An
    /// operation that was sent cannot be refused, so it may as long as there is room for it among all that wait.
    /// </summary>
    public bool MayPark(ClientOperation op, int rank)
    {
        if (op.IsParked || Parked.Count == 0) return true;
        long ops = MostWaiting - WaitingOperations - 1, bytes = state.Own.MaxInFlightBytes - WaitingBytes - op.AskedBytes;
        if (ops < 0) return false;
        return (IsLarge(op) && !Parked.HasLarge) || (bytes >= 0 && (op.Phase is OperationPhase.Sent or OperationPhase.Detached || Parked.LeavesEnough(rank, op.AskedBytes, ops, bytes)));
    }

    private bool IsLarge(ClientOperation op) => ParkedOperations.IsLarge(op.AskedBytes, state.Own.MaxInFlightBytes);

    /// <summary>A call waits for a place.</summary>
    public void Enqueue(ClientOperation op)
    {
        Waiting.Add(op);
        _waitingBytes += op.AskedBytes;
    }

    /// <summary>The call has its place, or ends.</summary>
    public void Dequeue(ClientOperation op)
    {
        Waiting.Remove(op);
        _waitingBytes -= op.AskedBytes;
    }

    /// <summary>The operation waits for a member, and gives its share back.</summary>
    public void Park(ClientOperation op, int rank)
    {
        if (op.IsParked)
        {
            Parked.Attribute(op, rank);
            return;
        }
        op.IsParked = true;
        Shares.Lend(op);
        Parked.Add(op, rank, IsLarge(op));
    }

    /// <summary>The wait for a member is over.</summary>
    public void Resume(ClientOperation op)
    {
        Shares.SetDue(op, false);
        op.IsParked = false;
        Parked.Remove(op);
        Shares.Take(op);
    }

    /// <summary>The operation is over.</summary>
    public void Return(ClientOperation op)
    {
        if (op.IsParked) Resume(op);
        _endedOps.Add(1);
        _endedBytes.Add(op.Charge);
        Shares.Return(op);
    }

    /// <summary>Takes the rates at which calls end, once in a while.</summary>
    public void Measure()
    {
        _endedOps.Measure(state.Node.Now);
        _endedBytes.Measure(state.Node.Now);
    }

    /// <summary>The time until so many operations will have ended.</summary>
    public TimeSpan TimeFor(int operations) => _endedOps.TimeFor(operations);

    /// <summary>The time until a call may find a place: until an eighth of those that wait have theirs.</summary>
    public TimeSpan TimeToPlace(ClientOperation op)
    {
        var time = _endedOps.TimeFor((Waiting.Count / 8) + 1);
        var bytes = _endedBytes.TimeFor(op.AskedBytes + (_waitingBytes / 8));
        return time > bytes ? time : bytes;
    }
}
