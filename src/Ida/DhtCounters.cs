using GroupCore.Wire;
using Ida.Wire;

namespace Ida;

/// <summary>What one member did for the DHT. Written by the loop; readable from any thread.</summary>
public sealed class DhtCounters
{
    private readonly long[] _sent = new long[DhtFrame.End - DhtFrame.Propose + 1];
    private long _fast, _slow, _takeovers, _localReads, _stateBytes, _stateReceived, _forbiddenSteps, _refused;

    /// <summary>Frames sent, acknowledgements and state transfer included.</summary>
    public long Sent
    {
        get
        {
            long sum = 0;
            foreach (ref long one in _sent.AsSpan()) sum += Volatile.Read(ref one);
            return sum;
        }
    }

    /// <summary>Operations that were stable when the proposals arrived, after two delays.</summary>
    public long FastPaths => Volatile.Read(ref _fast);

    /// <summary>Operations that needed a round of acknowledgements.</summary>
    public long SlowPaths => Volatile.Read(ref _slow);

    /// <summary>Operations of other members that this member took over and drove to their end.</summary>
    public long Takeovers => Volatile.Read(ref _takeovers);

    /// <summary>Reads answered by this member's own slice without a message.</summary>
    public long LocalReads => Volatile.Read(ref _localReads);

    /// <summary>Bytes of state sent to newcomers.</summary>
    public long StateBytesSent => Volatile.Read(ref _stateBytes);

    /// <summary>Steps of operations that should not have been possible, and were refused; anything but 0 is a defect of the library.</summary>
    public long ForbiddenSteps => Volatile.Read(ref _forbiddenSteps);

    /// <summary>Bytes of state that came from other members.</summary>
    internal long StateBytesReceived => Volatile.Read(ref _stateReceived);

    /// <summary>Operations of this member that got <see cref="OverloadedException"/>.</summary>
    internal long Refused => Volatile.Read(ref _refused);

    internal long SentOf(FrameType type) => Volatile.Read(ref _sent[type - DhtFrame.Propose]);

    internal void CountSent(FrameType type, int frames) => Volatile.Write(ref _sent[type - DhtFrame.Propose], _sent[type - DhtFrame.Propose] + frames);

    internal void CountFast() => Volatile.Write(ref _fast, _fast + 1);

    internal void CountSlow() => Volatile.Write(ref _slow, _slow + 1);

    internal void CountTakeover() => Volatile.Write(ref _takeovers, _takeovers + 1);

    internal void CountLocalRead() => Volatile.Write(ref _localReads, _localReads + 1);

    // Callers' threads count too.
    internal void CountForbiddenStep() => Interlocked.Increment(ref _forbiddenSteps);

    internal void CountStateReceived(int bytes) => Volatile.Write(ref _stateReceived, _stateReceived + bytes);

    internal void CountRefused() => Volatile.Write(ref _refused, _refused + 1);

    internal void CountStateBytes(int bytes) => Volatile.Write(ref _stateBytes, _stateBytes + bytes);
}
