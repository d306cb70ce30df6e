using GroupCore.Runtime;
using Ida.Wire;

namespace Ida.Coordination;

/// <summary>
/// A caller's put or get: pooled, posted to the loop as a command, driven there by the <see cref="Coordinator"/>, and completed outside
/// of the loop. It is used again when both its caller and the protocol have let go of it: a call that gave up leaves the put behind,
/// which goes on in the background.
/// </summary>
internal abstract class ClientOp(DhtLayer layer) : NodeCommand, ICompletion
{
    public OpPart[] Parts = new OpPart[1];
    public int PartCount;
    public byte[] Keys = new byte[64];
    public int KeyBytes;
    public bool IsPut;
    public ConsistencyLevel Level;
    public long Timeout;

    // From here on the loop's.
    public OpId? Requested;
    public OpId Id;
    public uint Attempt;
    public long Deadline, RetryAt;

    /// <summary>It has taken one of the places in flight.</summary>
    public bool InFlight;

    /// <summary>A message that may lead to its execution has left.</summary>
    public bool Sent;

    /// <summary>The caller was answered; the operation goes on without it.</summary>
    public bool Detached;

    public bool Finished;
    public RunningOp? Running;
    public int MissingReads;
    public ClientOp? Previous, Next;

    /// <summary>A call that asks for the outcome of this very operation.</summary>
    public ClientOp? Follower;

    public Exception? Error;

    /// <summary>Versions are not known: an Ordered put returned before its execution.</summary>
    public bool WithoutResult;

    /// <summary>What one shard found is more than a frame takes.</summary>
    public bool TooLarge;

    private int _holders;

    protected DhtLayer Layer { get; } = layer;

    /// <summary>Changes with every use, so that a late cancellation does not meet another call.</summary>
    public int Serial { get; private set; }

    public ReadOnlySpan<byte> KeyOf(int part) => Keys.AsSpan(Parts[part].KeyOffset, Parts[part].KeyLength);

    /// <summary>The first part that lies in a shard, −1 without one.</summary>
    public int FirstPart(int shard)
    {
        for (int i = 0; i < PartCount; i++)
            if (Parts[i].Shard == shard) return i;
        return -1;
    }

    /// <summary>Begins a use, on the caller's thread.</summary>
    public void Begin(bool put, ConsistencyLevel level, TimeSpan timeout)
    {
        (IsPut, Level) = (put, level);
        Timeout = (long)Math.Min(timeout.TotalNanoseconds, long.MaxValue / 4);
        _holders = 2;
    }

    public void AddKey(ReadOnlySpan<byte> map, ReadOnlySpan<byte> key, byte[]? incoming, ulong resolver)
    {
        int length = map.Length + key.Length;
        if (length > DhtLimits.KeyBytes) throw new ValueTooLargeException("A key", key.Length, DhtLimits.KeyBytes - map.Length);
        if (incoming is { Length: > DhtLimits.ValueBytes }) throw new ValueTooLargeException("A value", incoming.Length, DhtLimits.ValueBytes);
        if (PartCount == DhtLimits.Keys) throw new ValueTooLargeException("The number of keys of an operation, as it", PartCount + 1, DhtLimits.Keys);
        if (PartCount == Parts.Length) Array.Resize(ref Parts, PartCount * 2);
        if (KeyBytes + length > Keys.Length) Array.Resize(ref Keys, Math.Max(Keys.Length * 2, KeyBytes + length));
        map.CopyTo(Keys.AsSpan(KeyBytes));
        key.CopyTo(Keys.AsSpan(KeyBytes + map.Length));
        ulong hash = Layer.Hash(Keys.AsSpan(KeyBytes, length));
        Parts[PartCount] = new() { Index = PartCount, KeyOffset = KeyBytes, KeyLength = length, Hash = hash, Shard = Layer.ShardOf(hash), Incoming = incoming, Resolver = resolver };
        PartCount++;
        KeyBytes += length;
    }

    /// <summary>Sorts by shard and refuses duplicates and parts that fit no frame. On the caller's thread, before posting.</summary>
    public void Seal(string parameter)
    {
        if (PartCount == 1) return;
        var parts = Parts.AsSpan(0, PartCount);
        parts.Sort((a, b) => a.Shard != b.Shard ? a.Shard.CompareTo(b.Shard)
            : Keys.AsSpan(a.KeyOffset, a.KeyLength).SequenceCompareTo(Keys.AsSpan(b.KeyOffset, b.KeyLength)));
        long bytes = 0;
        for (int i = 0; i < parts.Length; i++)
        {
            bool sameShard = i > 0 && parts[i].Shard == parts[i - 1].Shard;
            if (sameShard && KeyOf(i).SequenceEqual(KeyOf(i - 1))) throw new ArgumentException("The same key occurs more than once in one operation.", parameter);
            bytes = (sameShard ? bytes : 0) + parts[i].KeyLength + (parts[i].Incoming?.Length ?? 0) + 20;
            if (bytes > DhtLimits.PartBytes) throw new ValueTooLargeException("The part of an operation for one shard", bytes, DhtLimits.PartBytes);
        }
    }

    public override void Run() => Layer.Start(this);

    public override void Abandon(Exception reason)
    {
        Error = new NotDhtMemberException("The node has stopped.", reason);
        Finished = true;
        ((ICompletion)this).Run();
        LetGo();
    }

    void ICompletion.Run() => Deliver();

    /// <summary>Hands result or error to the caller, outside of the loop.</summary>
    protected abstract void Deliver();

    /// <summary>Gives the object back for another use.</summary>
    protected abstract void Return();

    /// <summary>Caller or protocol is through with it; the second of them gives it back.</summary>
    public void LetGo()
    {
        if (Interlocked.Decrement(ref _holders) != 0) return;
        Serial++;
        Parts.AsSpan(0, PartCount).Clear();
        PartCount = KeyBytes = 0;
        Requested = null;
        Attempt = 0;
        InFlight = Sent = Detached = Finished = WithoutResult = TooLarge = false;
        Running = null;
        Follower = null;
        Error = null;
        RetryAt = 0;
        Return();
    }

    /// <summary>A cancelled caller, on any thread.</summary>
    public void RequestCancel(int serial) => Layer.Node.TryPost(new CancelCommand(Layer, this, serial));

    private sealed class CancelCommand(DhtLayer layer, ClientOp op, int serial) : NodeCommand
    {
        public override void Run()
        {
            if (op.Serial == serial) layer.Cancel(op);
        }

        public override void Abandon(Exception reason)
        {
            // The operation itself is abandoned with the node.
        }
    }
}
