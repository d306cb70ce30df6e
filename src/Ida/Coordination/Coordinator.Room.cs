using GroupCore.Basics;
using Ida.Placement;
using Ida.Wire;

namespace Ida.Coordination;

/// <summary>
/// Bounds the bytes of callers' operations, and makes operations wait for room on a link. A member whose link has no room is sent nothing that
/// carries keys or values; the operation keeps its place in the order and goes out when there is room, like all operations after a view change.
/// </summary>
/// <remarks>
/// An operation may wait for room, for a member to install the view, or (a retry) for an answer of the member of its session. Meanwhile it gives
/// back its share of <see cref="DhtOptions.MaxInFlight"/> and <see cref="DhtOptions.MaxInFlightBytes"/>, and counts as waiting. The operations that wait for one
/// member may be only a part of all that wait: so a member that is late, or that takes or answers nothing, does not stop operations on others. One beyond
/// that part is refused, or keeps its share if it was sent. When its wait is over it takes a free place, before calls that have not begun; but all that are due leave
/// those calls every second place and half of the bytes, unless one due operation needs more; the largest need counts until none is due.
/// What a read will bring is not known: for each key it counts as many bytes as recent reads brought per key (a maximum that decays). Answers
/// beyond twice the limit are refused, so that the limit holds whatever is stored.
/// </remarks>
internal sealed partial class Coordinator
{
    private const long AwaitsRoom = long.MaxValue;
    private const int MostRefusals = 8;
    private const long MostGuess = 4 * DhtLimits.PartBytes;
    private long _bytes, _waitingBytes;
    private long _bytesPerKey = DhtLimits.ValueBytes;
    private readonly ParkedOperations _parked = new();
    private int _due;

    private readonly RoomHold _hold = new();
    private readonly List<int> _asked = [];

    // Whether an operation has waited since a member last had room; whether held room was released.
    private bool _someAwait, _released;
    private long _dueBytes, _mostDue;
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
    public void CountAnswer(ClientOperation op, int bytes)
    {
        op.AnswerBytes += bytes;
        long more = op.AskedBytes + op.AnswerBytes - op.Charge;
        if (more <= 0 || op.IsParked) return;
        op.Charge += more;
        _bytes += more;
    }

    private bool BringsTooMuch(ClientOperation op) => !op.IsPut && op.AnswerBytes > 0 && _bytes > 2 * state.Options.MaxInFlightBytes && OnTheWay > 1;

    private int OnTheWay => _inFlight.Count - _parked.Count;

    // Thousands may be due at once: without this, calls on other members would wait for all of them.
    private bool HasPlace(ClientOperation op) => (!op.IsPut || InWindow) && OnTheWay + Math.Min(_due, (state.Options.MaxInFlight + 1) / 2) < state.Options.MaxInFlight
        && (_bytes + KeptForDue + Guess(op) <= state.Options.MaxInFlightBytes || (_due == 0 && OnTheWay == 0));

    private long KeptForDue => Math.Min(_dueBytes, Math.Max(state.Options.MaxInFlightBytes / 2, _mostDue));

    /// <summary>Whether an operation that gave its share back may have it again.</summary>
    private bool MayResume(ClientOperation op) => OnTheWay < state.Options.MaxInFlight && (_bytes + Guess(op) <= state.Options.MaxInFlightBytes || OnTheWay == 0);

    /// <summary>Whether waiting operations come before it. Where only puts wait, and only for the window, reads pass them.</summary>
    private bool Queues(ClientOperation op) => _waiting.Count > 0 && (op.IsPut || _waiting.Reads > 0 || InWindow);

    /// <summary>The waiting operation whose turn it is: the first, or the first read where no put may begin.</summary>
    private ClientOperation? NextWaiting()
    {
        var first = _waiting.First;
        return first is not { IsPut: true } || InWindow ? first : _waiting.FirstRead;
    }

    private int WaitingOperations => _waiting.Count + _parked.Count;

    private long WaitingBytes => _waitingBytes + _parked.Bytes;

    private long MostWaiting => (long)state.Options.MaxInFlight * WaitingFactor;

    // One operation may wait whatever its size: while small calls go on and on, a place for many bytes at once would never be free.
    private bool MayWait(ClientOperation op) => WaitingOperations < MostWaiting && (_waiting.Count == 0 || WaitingBytes + op.AskedBytes <= state.Options.MaxInFlightBytes);

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
        long ops = MostWaiting - WaitingOperations - 1, bytes = state.Options.MaxInFlightBytes - WaitingBytes - op.AskedBytes;
        if (ops < 0) return false;
        return (IsLarge(op) && !_parked.HasLarge) || (bytes >= 0 && (op.Phase is OperationPhase.Sent or OperationPhase.Detached || _parked.LeavesEnough(rank, op.AskedBytes, ops, bytes)));
    }

    private bool IsLarge(ClientOperation op) => ParkedOperations.IsLarge(op.AskedBytes, state.Options.MaxInFlightBytes);

    private OverloadedException Overloaded(ClientOperation op)
    {
        state.Counters.CountRefused();
        if (state.Node.Links.IsFull) return new(state.Node.Links.TimeToRoom, "The links of this node hold as many bytes as they may." + Nothing(op));
        Measure();
        var time = _endedOps.TimeFor((_waiting.Count / 8) + 1);
        var bytes = _endedBytes.TimeFor(op.AskedBytes + (_waitingBytes / 8));
        return new(time > bytes ? time : bytes,
            $"{WaitingOperations} operations with {WaitingBytes} bytes wait at this member beside {OnTheWay} with {_bytes} bytes in flight.{Nothing(op)}");
    }

    private OverloadedException TooMany(ClientOperation op)
    {
        state.Counters.CountRefused();
        Measure();
        return new(_endedOps.TimeFor((_inFlight.Count / 8) + 1), "Too many operations wait at a participant." + Nothing(op));
    }

    private void Measure()
    {
        _endedOps.Measure(state.Node.Now);
        _endedBytes.Measure(state.Node.Now);
    }

    private long Guess(ClientOperation op) => op.AskedBytes + (BringsValues(op) ? Math.Min(op.PartCount * _bytesPerKey, MostGuess) : 0);

    private static bool BringsValues(ClientOperation op) => !op.IsPut || op.TellsValue;

    private void TakeShare(ClientOperation op)
    {
        op.AnswerBytes = 0;
        op.Charge = Guess(op);
        _bytes += op.Charge;
    }

    private void ReturnShare(ClientOperation op)
    {
        EndHold(op);
        if (op.IsParked) Resume(op);
        _bytes -= op.Charge;
        _endedOps.Add(1);
        _endedBytes.Add(op.Charge);
        if (BringsValues(op) && (op.AnswerBytes > 0 || IsAnswered(op))) _bytesPerKey = Math.Max(op.AnswerBytes / op.PartCount, _bytesPerKey - (_bytesPerKey >> 3));
    }

    // An answer counts too when it comes from this member's slice, which brings no bytes, or has empty values.
    private static bool IsAnswered(ClientOperation op)
    {
        for (int i = 0; i < op.PartCount; i++)
            if (!op.Parts[i].HasResult) return false;
        return true;
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

    /// <summary>A parked operation holds the bytes asked and answered so far, not those that an answer may bring.</summary>
    private void Park(ClientOperation op, int rank)
    {
        if (op.IsParked)
        {
            _parked.Attribute(op, rank);
            return;
        }
        op.IsParked = true;
        _bytes -= op.Charge;
        op.Charge = op.AskedBytes + op.AnswerBytes;
        _parked.Add(op, rank, IsLarge(op));
    }

    /// <summary>Reserves the bytes that the operation will ask for, which for a read are not those it holds; keeps the amount, since the estimate for reads may change.</summary>
    private void SetDue(ClientOperation op, bool due)
    {
        _dueBytes -= op.DueBytes;
        op.DueBytes = due ? Guess(op) : 0;
        _dueBytes += op.DueBytes;
        if (op.IsDue != due) _due += due ? 1 : -1;
        op.IsDue = due;
        _mostDue = _due == 0 ? 0 : Math.Max(_mostDue, op.DueBytes);
    }

    private void Resume(ClientOperation op)
    {
        SetDue(op, false);
        op.IsParked = false;
        _parked.Remove(op);
        TakeShare(op);
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
            if (op.IsPut)
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
