using GroupCore.Runtime;
using Ida.Placement;
using Ida.Wire;

namespace Ida.Coordination;

/// <summary>
/// Bytes of callers' operations: how much is admitted, and who waits for room on a link. Nothing that carries keys or values is sent to a
/// member whose link has none; the operation stays in its place in the order and goes when there is room, as after a view change all do.
/// </summary>
/// <remarks>
/// An operation that waits for room or for a member to install the view, or a retry that waits for the member of its session to answer, gives
/// its share of <see cref="DhtOptions.MaxInFlight"/> and <see cref="DhtOptions.MaxInFlightBytes"/> back meanwhile, and counts to what waits, of
/// which one member gets a part: so one that is late, or takes or says nothing, does not stop operations on others. What would be more is
/// refused, or keeps its share if it was sent. When that has come they go as there are places, before calls that have not begun, and leave
/// those every second place and half of the bytes, if none of them needs more; what the largest needs counts until none is due.
/// What a read will bring is not known: it counts as many bytes for each key as those of late brought (a maximum that decays), and all that
/// comes beyond twice the limit is refused, so that the limit holds whatever is stored.
/// </remarks>
internal sealed partial class Coordinator
{
    private const long AwaitsRoom = long.MaxValue;
    private const int MostRefusals = 8;
    private const long MostGuess = 4 * DhtLimits.PartBytes;
    private long _bytes, _waitingBytes;
    private long _bytesPerKey = DhtLimits.ValueBytes;
    private readonly ParkedOps _parked = new();
    private int _due;

    private readonly RoomHold _hold = new();
    private readonly List<int> _asked = [];

    // Since a member last had room, and whether some is not held any more.
    private bool _someAwait, _released;
    private long _dueBytes, _mostDue;
    private DrainRate _endedOps = new(), _endedBytes = new();

    /// <summary>A member's link has room again: what waits goes out in its order.</summary>
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
            for (ClientOp? op = _inFlight.First, next; op is not null; op = next)
            {
                next = op.Next;
                if (op.RetryAt == AwaitsRoom || op.IsDue) Issue(op);
            }
        }
        while (_released);
        _admitting = false;
    }

    /// <summary>Bytes of an answer have come for a read.</summary>
    public void CountAnswer(ClientOp op, int bytes)
    {
        op.AnswerBytes += bytes;
        long more = op.AskedBytes + op.AnswerBytes - op.Charge;
        if (more <= 0 || op.IsParked) return;
        op.Charge += more;
        _bytes += more;
    }

    private bool BringsTooMuch(ClientOp op) => !op.IsPut && op.AnswerBytes > 0 && _bytes > 2 * state.Options.MaxInFlightBytes && OnTheWay > 1;

    private int OnTheWay => _inFlight.Count - _parked.Count;

    // Thousands may be due at once: calls on other members would wait for all of them.
    private bool HasPlace(ClientOp op) => (!op.IsPut || InWindow) && OnTheWay + Math.Min(_due, (state.Options.MaxInFlight + 1) / 2) < state.Options.MaxInFlight
        && (_bytes + KeptForDue + Guess(op) <= state.Options.MaxInFlightBytes || (_due == 0 && OnTheWay == 0));

    private long KeptForDue => Math.Min(_dueBytes, Math.Max(state.Options.MaxInFlightBytes / 2, _mostDue));

    /// <summary>Whether one that gave its share back may have it again.</summary>
    private bool MayResume(ClientOp op) => OnTheWay < state.Options.MaxInFlight && (_bytes + Guess(op) <= state.Options.MaxInFlightBytes || OnTheWay == 0);

    /// <summary>Whether others come before it. Where only puts wait, and for the window, reads pass them.</summary>
    private bool Queues(ClientOp op) => _waiting.Count > 0 && (op.IsPut || _waiting.Reads > 0 || InWindow);

    /// <summary>Whose turn it is: the first, but a read where no put may begin.</summary>
    private ClientOp? NextWaiting()
    {
        var first = _waiting.First;
        return first is not { IsPut: true } || InWindow ? first : _waiting.FirstRead;
    }

    private int WaitingOps => _waiting.Count + _parked.Count;

    private long WaitingBytes => _waitingBytes + _parked.Bytes;

    private long MostWaiting => (long)state.Options.MaxInFlight * WaitingFactor;

    // Whatever it has, one may: beside calls that go on and on no place would ever be free for many bytes at once.
    private bool MayWait(ClientOp op) => WaitingOps < MostWaiting && (_waiting.Count == 0 || WaitingBytes + op.AskedBytes <= state.Options.MaxInFlightBytes);

    /// <summary>Too much waits already for whom it would wait for.</summary>
    private bool WaitsTooLong(ClientOp op) => _parked.Count > 0 && state.Acts && state.Map is { } map
        && (MustAskWhetherGiven(op) ? state.OwnerOf(op.Id.Session) : BlockedBy(op, map)) is >= 0 and var rank && !MayPark(op, rank);

    /// <summary>
    /// Whether it may give its share back to wait for a member. Whatever it has, one may, beside others that wait always too; what was sent
    /// may as long as there is place among all that waits, since it cannot be refused.
    /// </summary>
    private bool MayPark(ClientOp op, int rank)
    {
        if (op.IsParked || _parked.Count == 0) return true;
        long ops = MostWaiting - WaitingOps - 1, bytes = state.Options.MaxInFlightBytes - WaitingBytes - op.AskedBytes;
        if (ops < 0) return false;
        return (IsLarge(op) && !_parked.HasLarge) || (bytes >= 0 && (op.Phase is OpPhase.Sent or OpPhase.Detached || _parked.LeavesEnough(rank, op.AskedBytes, ops, bytes)));
    }

    private bool IsLarge(ClientOp op) => ParkedOps.IsLarge(op.AskedBytes, state.Options.MaxInFlightBytes);

    private OverloadedException Overloaded(ClientOp op)
    {
        if (state.Node.Links.IsFull) return new(state.Node.Links.TimeToRoom, "The links of this node hold as many bytes as they may; nothing was executed.");
        Measure();
        var time = _endedOps.TimeFor((_waiting.Count / 8) + 1);
        var bytes = _endedBytes.TimeFor(op.AskedBytes + (_waitingBytes / 8));
        return new(time > bytes ? time : bytes,
            $"{WaitingOps} operations with {WaitingBytes} bytes wait at this member beside {OnTheWay} with {_bytes} bytes in flight; nothing was executed.");
    }

    private OverloadedException TooMany()
    {
        Measure();
        return new(_endedOps.TimeFor((_inFlight.Count / 8) + 1), "Too many operations wait at a participant; nothing was executed.");
    }

    private void Measure()
    {
        _endedOps.Measure(state.Node.Now);
        _endedBytes.Measure(state.Node.Now);
    }

    private long Guess(ClientOp op) => op.AskedBytes + (op.IsPut ? 0 : Math.Min(op.PartCount * _bytesPerKey, MostGuess));

    private void TakeShare(ClientOp op)
    {
        op.AnswerBytes = 0;
        op.Charge = Guess(op);
        _bytes += op.Charge;
    }

    private void ReturnShare(ClientOp op)
    {
        EndHold(op);
        if (op.IsParked) Resume(op);
        _bytes -= op.Charge;
        _endedOps.Add(1);
        _endedBytes.Add(op.Charge);
        if (!op.IsPut && (op.AnswerBytes > 0 || IsAnswered(op))) _bytesPerKey = Math.Max(op.AnswerBytes / op.PartCount, _bytesPerKey - (_bytesPerKey >> 3));
    }

    // Also by the own slice, which brings no bytes, or with values that have none.
    private static bool IsAnswered(ClientOp op)
    {
        for (int i = 0; i < op.PartCount; i++)
            if (!op.Parts[i].HasResult) return false;
        return true;
    }

    /// <summary>
    /// After a refusal, by a member that waits for its state, say, which may take long; and each attempt carries the values: the next ones
    /// come ever later, until <see cref="OnMemberFull"/>. Where bounds are small, attempts of one put through two members may refuse each
    /// other: their times differ by rank, or that would go on for ever.
    /// </summary>
    private void RetryApart(ClientOp op)
    {
        if (op.RetryAt == AwaitsRoom) return;
        op.RetryAt = state.Node.Now + Math.Min(RetryDelay << op.Refusals, MostRetryDelay) + (RetryStep * (op.Attempt * ((2L * state.Rank) + 1) % 16));
        op.Refusals = Math.Min(op.Refusals + 1, MostRefusals);
    }

    /// <summary>
    /// After a refusal of this very attempt: a takeover made it be refused, and the next one is not. But a replica may refuse all up to some
    /// attempt of another put. Which that is is not said, so steps grow.
    /// </summary>
    private void RetryAbove(ClientOp op)
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

    private void RetryLater(ClientOp op)
    {
        // What waits for room begins anew in any case.
        if (op.RetryAt != AwaitsRoom) op.RetryAt = state.Node.Now + RetryDelay;
    }

    /// <summary>A member has its state: what it refused is tried again.</summary>
    public void OnMemberFull()
    {
        for (var op = _inFlight.First; op is not null; op = op.Next)
        {
            if (op.Refusals == 0) continue;
            op.Refusals = 0;
            if (op.RetryAt is not (0 or AwaitsRoom)) op.RetryAt = state.Node.Now;
        }
    }

    /// <summary>It holds what was asked and answered so far, and not what an answer may bring.</summary>
    private void Park(ClientOp op, int rank)
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

    /// <summary>Bytes are kept for it as it will ask for, which for a read is not what it holds; what reads are taken to bring may have changed since.</summary>
    private void SetDue(ClientOp op, bool due)
    {
        _dueBytes -= op.DueBytes;
        op.DueBytes = due ? Guess(op) : 0;
        _dueBytes += op.DueBytes;
        if (op.IsDue != due) _due += due ? 1 : -1;
        op.IsDue = due;
        _mostDue = _due == 0 ? 0 : Math.Max(_mostDue, op.DueBytes);
    }

    private void Resume(ClientOp op)
    {
        SetDue(op, false);
        op.IsParked = false;
        _parked.Remove(op);
        TakeShare(op);
    }

    /// <summary>
    /// One of those who have to be asked to whom nothing can be sent now, for want of room or since it has not installed the view; −1 without
    /// one. The one that it waits for already comes first.
    /// </summary>
    private int BlockedBy(ClientOp op, ShardMap map)
    {
        if (op.RetryAt == AwaitsRoom && op.Awaits >= 0 && !HasRoom(op, op.Awaits)) return op.Awaits;
        FindAsked(op, map);
        foreach (int rank in _asked)
            if (!HasRoom(op, rank)) return rank;
        return -1;
    }

    private void FindAsked(ClientOp op, ShardMap map)
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
            else if (Representative(map, shard, op.Parts[i].Hash) is >= 0 and var slot)
            {
                AddAsked(map.RankOfSlot(slot));
            }
        }
    }

    private void AddAsked(int rank)
    {
        if (rank != state.Rank) _asked.Add(rank);
    }

    /// <summary>It waits for this member's link, or for it to install the view.</summary>
    private void AwaitRoom(ClientOp op, int rank)
    {
        // That of another one has come, and may be gone when this one has some.
        bool inTurns = op.RetryAt == AwaitsRoom && op.Awaits >= 0 && op.Awaits != rank;
        if (inTurns && _hold.MayBegin(state.Node.Now)) _hold.Begin(op, _asked, state.Node.Now);
        _someAwait = true;
        op.RetryAt = AwaitsRoom;
        if (MayPark(op, rank)) Park(op, rank);
        else if (op.Phase == OpPhase.Admitted) Refuse(op, Overloaded(op));
    }

    private void EndHold(ClientOp op) => _released |= _hold.End(op, state.Node.Now);

    private bool HasRoom(ClientOp op, int rank) => !_hold.KeepsFrom(op, rank) && HasRoom(rank);

    private bool HasRoom(int rank) => rank == state.Rank || state.Port.Room(rank) > 0;
}
