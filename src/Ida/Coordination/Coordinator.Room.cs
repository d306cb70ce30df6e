using GroupCore.Basics;
using Ida.Placement;

namespace Ida.Coordination;

/// <summary>
/// Bounds the bytes of callers' operations, and makes operations wait for room on a link. A member whose link has no room is sent nothing that
/// carries keys or values; the operation keeps its place in the order and goes out when there is room, like all operations after a view change.
/// </summary>
/// <remarks>
/// An operation may wait for room, for a member to install the view, or (a retry) for an answer of the member of its session. Meanwhile it gives
/// back its share of <see cref="DhtMemberOptions.MaxInFlight"/> and <see cref="DhtMemberOptions.MaxInFlightBytes"/>, and counts as waiting. The operations that wait for one
/// member may be only a part of all that wait: so a member that is late, or that takes or answers nothing, does not stop operations on others. One beyond
/// that part is refused, or keeps its share if it was sent. When its wait is over it takes a free place, before calls that have not begun; but all that are due leave
/// those calls every second place and half of the bytes, unless one due operation needs more; the largest need counts until none is due (<see cref="ByteShares"/>).
/// Answers beyond twice the limit are refused, so that the limit holds whatever is stored.
/// </remarks>
internal sealed partial class Coordinator
{
    private const long AwaitsRoom = long.MaxValue;
    private const int MostRefusals = 8;
    private readonly ByteShares _shares = new(state.Own.MaxInFlightBytes);
    private readonly ParkedOperations _parked = new();
    private long _waitingBytes;

    private readonly RoomHold _hold = new();
    private readonly List<int> _asked = [];

    // Whether an operation has waited since a member last had room; whether held room was released.
    private bool _someAwait, _released;
    private DrainRate _endedOps = new(), _endedBytes = new();

    /// <summary>A member's link has room again: the waiting operations go out in their order.</summary>
    public void OnRoom()
    {
        if (!_someAwait) return;
        IssueAwaiting();
        AdmitWaiting();
    }

    private void IssueAwaiting()
    {
        _admitting = true;
        do
        {
            _someAwait = _released = false;
            for (ClientOperation? op = _inFlight.First, next; op is not null; op = next)
            {
                next = op.Next;
                if (op.RetryAt == AwaitsRoom || op.IsDue) Issue(op);
            }
        }
        while (_released);
        _admitting = false;
    }

    /// <summary>Counts bytes of values in an answer.</summary>
    public void CountAnswer(ClientOperation op, int bytes) => _shares.Count(op, bytes);

    private bool BringsTooMuch(ClientOperation op) => !op.Kind.Changes && op.AnswerBytes > 0 && _shares.AreExceeded && OnTheWay > 1;

    private int OnTheWay => _inFlight.Count - _parked.Count;

    // Thousands may be due at once: without this, calls on other members would wait for all of them.
    private bool HasPlace(ClientOperation op) => (!op.Kind.Changes || InWindow) && OnTheWay + Math.Min(_shares.Due, (state.Own.MaxInFlight + 1) / 2) < state.Own.MaxInFlight
        && (_shares.FitBeside(op) || (_shares.Due == 0 && OnTheWay == 0));

    /// <summary>Whether an operation that gave its share back may have it again.</summary>
    private bool MayResume(ClientOperation op) => OnTheWay < state.Own.MaxInFlight && (_shares.Fit(op) || OnTheWay == 0);

    /// <summary>Whether waiting operations come before it. Where only puts wait, and only for the window, reads pass them.</summary>
    private bool Queues(ClientOperation op) => _waiting.Count > 0 && (op.Kind.Changes || _waiting.Reads > 0 || InWindow);

    /// <summary>The waiting operation whose turn it is: the first, or the first read where no put may begin.</summary>
    private ClientOperation? NextWaiting()
    {
        var first = _waiting.First;
        return first is not { Kind.Changes: true } || InWindow ? first : _waiting.FirstRead;
    }

    private int WaitingOperations => _waiting.Count + _parked.Count;

    private long WaitingBytes => _waitingBytes + _parked.Bytes;

    private long MostWaiting => (long)state.Own.MaxInFlight * WaitingFactor;

    // One operation may wait whatever its size: while small calls go on and on, a place for many bytes at once would never be free.
    private bool MayWait(ClientOperation op) => WaitingOperations < MostWaiting && (_waiting.Count == 0 || WaitingBytes + op.AskedBytes <= state.Own.MaxInFlightBytes);

    /// <summary>Whether too much waits already for the member for which the operation would wait.</summary>
    private bool WaitsTooLong(ClientOperation op) => _parked.Count > 0 && state.Acts && state.Map is { } map
        && (MustAskWhetherGiven(op) ? state.OwnerOf(op.Id.Session) : BlockedBy(op, map)) is >= 0 and var rank && !MayPark(op, rank);

    /// <summary>
    /// Whether an operation may give its share back to wait for a member. One may whatever its size, and beside others that always wait too. One
    /// that was sent may as long as there is room among all that waits, since it cannot be refused.
    /// </summary>
    private bool MayPark(ClientOperation op, int rank)
    {
        if (op.IsParked || _parked.Count == 0) return true;
        long ops = MostWaiting - WaitingOperations - 1, bytes = state.Own.MaxInFlightBytes - WaitingBytes - op.AskedBytes;
        if (ops < 0) return false;
        return (IsLarge(op) && !_parked.HasLarge) || (bytes >= 0 && (op.Phase is OperationPhase.Sent or OperationPhase.Detached || _parked.LeavesEnough(rank, op.AskedBytes, ops, bytes)));
    }

    private bool IsLarge(ClientOperation op) => ParkedOperations.IsLarge(op.AskedBytes, state.Own.MaxInFlightBytes);

    private OverloadedException Overloaded(ClientOperation op)
    {
        state.Counters.CountRefused();
        if (state.Node.Links.IsFull) return About(op, new OverloadedException(state.Node.Links.TimeToRoom, "The links of this node hold as many bytes as they may." + Nothing(op)));
        Measure();
        var time = _endedOps.TimeFor((_waiting.Count / 8) + 1);
        var bytes = _endedBytes.TimeFor(op.AskedBytes + (_waitingBytes / 8));
        return About(op, new OverloadedException(time > bytes ? time : bytes,
            $"{WaitingOperations} operations with {WaitingBytes} bytes wait at this member beside {OnTheWay} with {_shares.Taken} bytes in flight.{Nothing(op)}"));
    }

    private OverloadedException TooMany(ClientOperation op, int rank)
    {
        state.Counters.CountRefused();
        Measure();
        return About(op, new OverloadedException(_endedOps.TimeFor((_inFlight.Count / 8) + 1), "Too many operations wait at a participant." + Nothing(op)), rank);
    }

    private OverloadedException OutcomesFull(ClientOperation op, int rank)
    {
        state.Counters.CountRefused();
        Measure();
        return About(op, new OverloadedException(_endedOps.TimeFor((_inFlight.Count / 8) + 1), $"A participant remembers as much as it may of the outcomes of {(op.Id.Session == state.Session ? "this member's puts" : "puts whose ids another member gave, this one's too")}.{Nothing(op)}"), rank);
    }

    private void Measure()
    {
        _endedOps.Measure(state.Node.Now);
        _endedBytes.Measure(state.Node.Now);
    }

    private void ReturnShare(ClientOperation op)
    {
        EndHold(op);
        if (op.IsParked) Resume(op);
        _endedOps.Add(1);
        _endedBytes.Add(op.Charge);
        _shares.Return(op);
    }

    /// <summary>
    /// After a refusal, for example by a member that waits for its state, which may take long. Each attempt carries the values: so the delays
    /// grow, until <see cref="OnMemberInitialised"/>. Where bounds are small, attempts of one put through two members may refuse each other: so their
    /// delays differ by rank, or that would go on for ever.
    /// </summary>
    private void RetryApart(ClientOperation op)
    {
        if (op.RetryAt == AwaitsRoom) return;
        op.RetryAt = state.Node.Now + Math.Min(RetryDelay << op.Refusals, MostRetryDelay) + (RetryStep * (op.Attempt * ((2L * state.Rank) + 1) % 16));
        op.Refusals = Math.Min(op.Refusals + 1, MostRefusals);
    }

    /// <summary>
    /// A takeover made a participant reject this very attempt: the next attempt is not rejected for that. But a replica may reject all attempts up to
    /// some number of any older put (<see cref="Ordering.Session"/>), and does not say which number: so the steps grow.
    /// </summary>
    private void RetryAbove(ClientOperation op)
    {
        if (op.Refusals == 0)
        {
            op.Refusals = 1;
            Issue(op);
            return;
        }
        op.Attempt += 4U << op.Refusals;
        RetryApart(op);
    }

    private void RetryLater(ClientOperation op)
    {
        // An operation that waits for room begins anew in any case.
        if (op.RetryAt != AwaitsRoom) op.RetryAt = state.Node.Now + RetryDelay;
    }

    /// <summary>A member has got its state: tries again the operations that were refused.</summary>
    public void OnMemberInitialised()
    {
        for (var op = _inFlight.First; op is not null; op = op.Next)
        {
            if (op.Refusals == 0) continue;
            op.Refusals = 0;
            if (op.RetryAt is not (0 or AwaitsRoom)) op.RetryAt = state.Node.Now;
        }
    }

    private void Park(ClientOperation op, int rank)
    {
        if (op.IsParked)
        {
            _parked.Attribute(op, rank);
            return;
        }
        op.IsParked = true;
        _shares.Lend(op);
        _parked.Add(op, rank, IsLarge(op));
    }

    private void Resume(ClientOperation op)
    {
        _shares.SetDue(op, false);
        op.IsParked = false;
        _parked.Remove(op);
        _shares.Take(op);
    }

    /// <summary>
    /// A member that has to be asked and to which nothing can be sent now, because its link has no room or it has not installed the view; −1
    /// if there is none. The member for which the operation waits already comes first.
    /// </summary>
    private int BlockedBy(ClientOperation op, ShardMap map)
    {
        if (op.RetryAt == AwaitsRoom && op.Awaits >= 0 && !HasRoom(op, op.Awaits)) return op.Awaits;
        FindAsked(op, map);
        foreach (int rank in _asked)
            if (!HasRoom(op, rank)) return rank;
        return -1;
    }

    private void FindAsked(ClientOperation op, ShardMap map)
    {
        _asked.Clear();
        int shard = -1;
        for (int i = 0; i < op.PartCount; i++)
        {
            if (op.Parts[i].Shard == shard) continue;
            shard = op.Parts[i].Shard;
            if (op.Kind.Changes)
            {
                foreach (ushort slot in map.Members(shard)) AddAsked(map.RankOfSlot(slot));
            }
            else if (Representative(map, shard, op.Parts[i].Place) is >= 0 and var slot)
            {
                AddAsked(map.RankOfSlot(slot));
            }
        }
    }

    private void AddAsked(int rank)
    {
        if (rank != state.Rank) _asked.Add(rank);
    }

    /// <summary>The operation waits for room on this member's link, or until the member installs the view.</summary>
    private void AwaitRoom(ClientOperation op, int rank)
    {
        // Room on another member's link has come, and may be gone when this member's link has some.
        bool inTurns = op.RetryAt == AwaitsRoom && op.Awaits >= 0 && op.Awaits != rank;
        if (inTurns && _hold.MayBegin(state.Node.Now)) _hold.Begin(op, _asked, state.Node.Now);
        _someAwait = true;
        op.RetryAt = AwaitsRoom;
        if (MayPark(op, rank)) Park(op, rank);
        else if (op.Phase == OperationPhase.Admitted) Refuse(op, Overloaded(op));
    }

    private void EndHold(ClientOperation op) => _released |= _hold.End(op, state.Node.Now);

    private bool HasRoom(ClientOperation op, int rank) => !_hold.KeepsFrom(op, rank) && HasRoom(rank);

    private bool HasRoom(int rank) => rank == state.Rank || state.Port.Room(rank) > 0;
}
