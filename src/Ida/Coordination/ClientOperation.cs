using System.Diagnostics;
using GroupCore.Groups.Buffers;
using GroupCore.Runtime;
using Ida.Kinds;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Coordination;

/// <summary>
/// A caller's put or get: pooled, posted to the loop as a command, driven there by the <see cref="Coordinator"/>, and completed outside
/// of the loop. It returns to the pool when both its caller and the protocol have let go of it: a put whose caller gives up goes on in the
/// background.
/// </summary>
/// <remarks>
/// <see cref="Phase"/> says whether caller or loop owns it: the caller while Free, Building and, after its completion, Finished; the loop
/// in between. A stale reference (a late cancellation, a read that waited) finds the operation by its id among those of the loop, or not at all.
/// </remarks>
internal abstract class ClientOperation(IOperationTaker layer) : NodeCommand, ICompletion
{
    /// <summary>A time that never comes.</summary>
    public const long Unlimited = long.MaxValue / 4;

    /// <summary><see cref="RetryAt"/> of an operation that goes out when a link has room, or a member has installed the view.</summary>
    public const long AwaitsRoom = long.MaxValue;

    // Some thousands are pooled: an operation that had many keys gives their room back.
    private const int MostPooledParts = 16;

    public OperationPart[] Parts = new OperationPart[1];
    public int PartCount;
    public OperationKind Kind = OperationKind.Get;
    public ConsistencyLevel Level;
    public long Timeout;

    /// <summary>How many of <see cref="Bytes"/> are keys and values of the call; answers to an attempt follow them.</summary>
    public int AskedBytes;

    /// <summary><see cref="PutPayload"/> of a put: what its id stands for. 0 for a read.</summary>
    public ulong Payload;

    // From here on, fields belong to the loop.
    public OperationId? Requested;
    public OperationId Id;
    public uint Attempt;

    /// <summary>Number of puts of its member that began before it.</summary>
    public ulong PutsBefore;
    public long Deadline, RetryAt;

    /// <summary>How often the operation was refused in this view, or since a member last got its state.</summary>
    public int Refusals;

    /// <summary>It was tried once more after the ids that callers had taken were released for it.</summary>
    public bool TriedAfterRelease;
    public CoordinatedOperation? Running;
    public int MissingReads;

    /// <summary>A participant has said that an attempt at the put was executed: then a refusal by another participant does not end it.</summary>
    public bool Executed;

    /// <summary>No attempt runs: the operation waits for the member of its session to say how the put ended.</summary>
    public bool Asks;

    /// <summary>The member of its session has said that it gave the id to a put.</summary>
    public bool IsGiven;

    /// <summary>It has given back its share of what may be in flight, because it waits for something that may take long.</summary>
    public bool IsParked;

    /// <summary>The rank of the member for which it waits while parked, −1 for none.</summary>
    public int Awaits = -1;

    /// <summary>Its wait is over, and it needs a place in flight again; it comes before operations that have not had one.</summary>
    public bool IsDue;

    /// <summary>Bytes in flight that are reserved for it meanwhile.</summary>
    public long DueBytes;

    /// <summary>Its share of the bytes in flight, and the bytes of answers from other members.</summary>
    public long Charge, AnswerBytes;

    public ClientOperation? Previous, Next;

    /// <summary>Its place among the waiting operations: lower ones came before.</summary>
    public long Ticket;

    /// <summary>Its place among the puts under named ids, if it is one (<see cref="NamedPuts"/>).</summary>
    public int NamedPlace;

    /// <summary>The call that waits for the outcome of this operation; the operation for whose outcome this one waits.</summary>
    public ClientOperation? Follower, Leader;

    public Exception? Error;

    /// <summary>Versions are not known: an Ordered put returned before its execution, or no member remembers what the put told.</summary>
    public bool WithoutResult;

    private int _holders;
    private volatile OperationPhase _phase;
    private volatile bool _cancelRequested;
    private Comparison<OperationPart>? _order;

    /// <summary>
    /// Keys, values to be stored, and answers of other members; only what a slice keeps gets an array of its own. It belongs to the caller until
    /// posted, then to the loop, then again to the caller, which makes the result from it; empty when both have let go.
    /// </summary>
    public PayloadBuffer Bytes { get; } = new();

    public IOperationTaker Layer { get; } = layer;

    public OperationPhase Phase => _phase;

    /// <summary>Whether it has one of the places in flight.</summary>
    public bool IsInFlight => _phase is OperationPhase.Admitted or OperationPhase.Sent or OperationPhase.Detached;

    /// <summary>Whether the caller of this use has given up.</summary>
    public bool CancelRequested => _cancelRequested;

    /// <summary>Goes to the next phase. A step not in <see cref="OperationPhases"/> is a defect: it throws in debug builds, and is refused and counted in others.</summary>
    public bool Move(OperationPhase to)
    {
        if (OperationPhases.MayFollow(_phase, to))
        {
            _phase = to;
            return true;
        }
        Layer.Counters.CountForbiddenStep();
        Fail(to);
        return false;
    }

    [Conditional("DEBUG")]
    private void Fail(OperationPhase to) => throw new InvalidOperationException($"{GetType().Name} {Id} cannot go from {_phase} to {to}.");

    /// <summary>A message that may lead to the execution of the operation is sent.</summary>
    public void MarkSent()
    {
        if (_phase == OperationPhase.Admitted) Move(OperationPhase.Sent);
    }

    public ReadOnlySpan<byte> KeyOf(int part) => Bytes.Written.Slice(Parts[part].KeyOffset, Parts[part].KeyLength);

    /// <summary>The value that is brought for a key.</summary>
    public ReadOnlySpan<byte> IncomingOf(int part) => Bytes.Written.Slice(Parts[part].KeyOffset + Parts[part].KeyLength, Parts[part].IncomingLength);

    /// <summary>Whether the result has the value that is stored afterwards.</summary>
    public bool TellsValue => PartCount == 1 && Parts[0].Deed.Effect.TellsValue;

    /// <summary>Whether its caller needs what is known only when the operation is executed.</summary>
    protected virtual bool MustTell => Expects;

    /// <summary>Whether the put is applied only if keys have the versions that it expects.</summary>
    public bool Expects
    {
        get
        {
            for (int i = 0; i < PartCount; i++)
                if (Parts[i].Deed.Expects) return true;
            return false;
        }
    }

    /// <summary>The value that was read for a key; false when it is absent.</summary>
    public bool TryValue(int part, out ReadOnlySpan<byte> value)
    {
        ref var of = ref Parts[part];
        value = of.HasCopy ? Bytes.Written.Slice(of.CopyOffset, of.CopyLength) : of.Value;
        return of.HasCopy || of.Value is not null;
    }

    /// <summary>Sets the result of a part: that of an execution.</summary>
    public void Give(int part, ulong version, PutReport? report)
    {
        ref var to = ref Parts[part];
        (to.HasResult, to.ResultTime, to.Version, to.Report) = (true, OperationPart.Executed, version, report);
    }

    /// <summary>Before an attempt: drops the results of earlier ones.</summary>
    public void ForgetResults()
    {
        for (int i = 0; i < PartCount; i++)
        {
            ref var part = ref Parts[i];
            (part.HasResult, part.ResultTime, part.HasCopy, part.Value, part.Report) = (false, 0, false, null, null);
        }
        Bytes.Cut(AskedBytes);
    }

    /// <summary>The first part that lies in a shard, −1 if none does.</summary>
    public int FirstPart(int shard)
    {
        for (int i = 0; i < PartCount; i++)
            if (Parts[i].Shard == shard) return i;
        return -1;
    }

    /// <summary>Whether exactly this many parts lie in a shard: only then does an answer of the shard's members match them.</summary>
    public bool HasParts(int shard, int count, out int first)
    {
        first = FirstPart(shard);
        int end = first + count;
        return first >= 0 && count > 0 && end <= PartCount && Parts[end - 1].Shard == shard && (end == PartCount || Parts[end].Shard != shard);
    }

    /// <summary>Begins a use, on the caller's thread.</summary>
    public void Begin(OperationKind kind, ConsistencyLevel level, TimeSpan timeout)
    {
        Move(OperationPhase.Building);
        (Kind, Level) = (kind, level);
        Timeout = timeout == System.Threading.Timeout.InfiniteTimeSpan ? Unlimited : (long)Math.Min(timeout.TotalNanoseconds, Unlimited);
    }

    /// <summary>From now on the operation belongs to the loop too.</summary>
    protected void HandOver()
    {
        _holders = 2;
        Move(OperationPhase.Queued);
    }

    /// <summary>The loop has not seen the operation and will not: returns it to the pool.</summary>
    public void Drop()
    {
        if (Move(OperationPhase.Free)) Clear();
    }

    /// <summary>
    /// Adds a key, with its map in front, that was written into <see cref="Bytes"/> from <paramref name="start"/> to
    /// <paramref name="end"/>; the value that a put or merge brings follows it. The <paramref name="part"/> says what is done to the key, and where it lies.
    /// </summary>
    public void AddPart(int start, int end, in OperationPart part)
    {
        int key = end - start, value = Bytes.Length - end;
        if (key > DhtLimits.KeyBytes) throw new ValueTooLargeException("A key", key - KeyIdentity.MapBytes, DhtLimits.KeyBytes - KeyIdentity.MapBytes);
        if (value > DhtLimits.ValueBytes) throw new ValueTooLargeException("A value", value, DhtLimits.ValueBytes);
        if (PartCount == DhtLimits.Keys) throw ValueTooLargeException.TooManyKeys(DhtLimits.Keys);
        if (PartCount == Parts.Length) Array.Resize(ref Parts, PartCount * 2);
        Parts[PartCount] = part with { Index = PartCount, KeyOffset = start, KeyLength = key, IncomingLength = value };
        PartCount++;
        AskedBytes = Bytes.Length;
    }

    /// <summary>Sorts by shard, refuses duplicates and parts that fit no frame, and hashes the pairs of a put. On the caller's thread, before posting.</summary>
    public void Seal(string parameter)
    {
        if (PartCount > 1) Sort(parameter);
        if (!Kind.Changes) return;
        if (Expects && Parts[0].Shard != Parts[PartCount - 1].Shard)
            throw new ArgumentException("The operation expects versions, and its keys lie in several shards: only the members of one shard can tell whether its expectations are met. In which shard a key lies depends on its bytes, or those of its shard key, and the hash; not on its map.", parameter);
        if (MustTell) Level = ConsistencyLevel.Strict;
        ulong pairs = 0, places = 0;
        for (int i = 0; i < PartCount; i++)
        {
            ref var part = ref Parts[i];
            PutPayload.Add(ref pairs, ref places, part.Deed.Hash(Bytes.Written.Slice(part.KeyOffset, part.KeyLength + part.IncomingLength), part.KeyLength), part.Shard);
        }
        Payload = PutPayload.Of(pairs, places);
    }

    private void Sort(string parameter)
    {
        Parts.AsSpan(0, PartCount).Sort(_order ??= Compare);
        if (Expects) JoinExpectations();
        var parts = Parts.AsSpan(0, PartCount);
        long bytes = 0;
        for (int i = 0; i < parts.Length; i++)
        {
            bool sameShard = i > 0 && parts[i].Shard == parts[i - 1].Shard;
            if (sameShard && KeyOf(i).SequenceEqual(KeyOf(i - 1))) throw new ArgumentException("The same key occurs more than once in one operation.", parameter);
            bytes = (sameShard ? bytes : 0) + parts[i].KeyLength + parts[i].IncomingLength + DhtLimits.KeyCost;
            if (bytes > DhtLimits.PartBytes) throw new ValueTooLargeException("The part of an operation for one shard", bytes, DhtLimits.PartBytes);
        }
    }

    /// <summary>Joins the expectation of a key's version and the change of that key into one part.</summary>
    private void JoinExpectations()
    {
        int count = 1;
        for (int i = 1; i < PartCount; i++)
        {
            ref var last = ref Parts[count - 1];
            ref var next = ref Parts[i];
            bool agree = !(last.Deed.Expects && next.Deed.Expects) || last.Deed.Expected == next.Deed.Expected;
            bool joins = agree && (last.Deed.Effect == KeyEffect.Check || next.Deed.Effect == KeyEffect.Check) && KeyOf(count - 1).SequenceEqual(KeyOf(i));
            if (!joins)
            {
                Parts[count++] = next;
                continue;
            }
            int index = Math.Min(last.Index, next.Index);
            ulong expected = last.Deed.Expects ? last.Deed.Expected : next.Deed.Expected;
            if (last.Deed.Effect == KeyEffect.Check) last = next;
            (last.Index, last.Deed) = (index, last.Deed with { Expects = true, Expected = expected });
        }
        if (count == PartCount) return;
        Parts.AsSpan(count, PartCount - count).Clear();
        PartCount = count;
        // Results are for keys, in the order in which they were named.
        var order = new int[count];
        for (int i = 0; i < count; i++) order[i] = Parts[i].Index;
        Array.Sort(order);
        for (int i = 0; i < count; i++) Parts[i].Index = Array.BinarySearch(order, Parts[i].Index);
    }

    private int Compare(OperationPart one, OperationPart other) => one.Shard != other.Shard ? one.Shard.CompareTo(other.Shard)
        : Bytes.Written.Slice(one.KeyOffset, one.KeyLength).SequenceCompareTo(Bytes.Written.Slice(other.KeyOffset, other.KeyLength));

    internal override bool AtOnce => true;

    internal override bool IsKept => true;

    public override void Run() => Layer.Start(this);

    public override void Abandon(Exception reason)
    {
        if (_phase is OperationPhase.Finished or OperationPhase.Detached) return;
        Error = AtEnd(reason is NodeFaultedException ? reason : new NotDhtMemberException("The node has stopped.", reason));
        Layer.Node.Complete(this);
        // In any other phase, the turn that took the operation threw half-way: then the coordinator ends the operation, or it is never used again.
        if (_phase != OperationPhase.Queued) return;
        Move(OperationPhase.Finished);
        LetGo();
    }

    /// <summary>
    /// The error for the caller when this member's part ends and nothing of the call was sent: it was not executed. For a retry, that says
    /// nothing about the put it repeats. After the loss of a shard, a retry gets the reason itself: no member is left to ask.
    /// </summary>
    public Exception AtEnd(Exception reason, ulong? view = null) => Requested is { } put && reason is not ShardDepopulatedException
        ? new OutcomeUnknownException(put, "The retry was not executed: " + reason.Message, reason) { View = view } : reason;

    void ICompletion.Run() => Deliver();

    /// <summary>Hands result or error to the caller, outside of the loop.</summary>
    protected abstract void Deliver();

    /// <summary>Gives the object back for another use.</summary>
    protected abstract void Return();

    /// <summary>Caller or protocol is done with the operation; the second of them returns it to the pool.</summary>
    public void LetGo()
    {
        if (Interlocked.Decrement(ref _holders) == 0 && Move(OperationPhase.Free)) Clear();
    }

    private void Clear()
    {
        if (Parts.Length > MostPooledParts) Parts = new OperationPart[1];
        else Parts.AsSpan(0, PartCount).Clear();
        Bytes.Reset();
        PartCount = AskedBytes = 0;
        Requested = null;
        Attempt = 0;
        Payload = 0;
        WithoutResult = TriedAfterRelease = Asks = IsGiven = Executed = IsParked = IsDue = _cancelRequested = false;
        Running = null;
        Error = null;
        RetryAt = Refusals = 0;
        Return();
    }

    /// <summary>
    /// A caller that has not taken its result cancels, on any thread. The mark is enough, since the loop checks it at every tick and
    /// before it begins the operation; the command speeds that up, unless the queue is full.
    /// </summary>
    public void RequestCancel()
    {
        _cancelRequested = true;
        _ = Layer.Node.TryPost(new CancelCommand(Layer, this));
    }

    private sealed class CancelCommand(IOperationTaker layer, ClientOperation op) : NodeCommand
    {
        // The operation may serve another call by now, which is not marked.
        public override void Run()
        {
            if (op.CancelRequested) layer.Cancel(op);
        }

        public override void Abandon(Exception reason)
        {
            // The operation itself is abandoned with the node.
        }
    }
}
