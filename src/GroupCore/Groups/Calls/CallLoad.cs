using GroupCore.Basics;

namespace GroupCore.Groups.Calls;

/// <summary>
/// A number of calls, the sum of their bytes, and how fast they end. Number and sum are one word, so that two threads that add never both take the last
/// room; the rate is kept on the loop and read on any thread.
/// </summary>
internal struct CallLoad()
{
    // Bytes below 2^40, calls above.
    private const int Shift = 40;
    private long _held;
    private DrainRate _endedCalls = new(), _endedBytes = new();

    public readonly int Calls => (int)(Volatile.Read(in _held) >> Shift);

    public readonly long Bytes => Volatile.Read(in _held) & ((1L << Shift) - 1);

    /// <summary>Counts a call; returns the new totals. From any thread.</summary>
    public (int Calls, long Bytes) Add(int bytes)
    {
        long held = Interlocked.Add(ref _held, (1L << Shift) + bytes);
        return ((int)(held >> Shift), held & ((1L << Shift) - 1));
    }

    /// <summary>Takes back a call that is not made. From any thread.</summary>
    public void Remove(int bytes) => Interlocked.Add(ref _held, -(1L << Shift) - bytes);

    /// <summary>A call was sent or has failed; on the loop.</summary>
    public void End(int bytes, long now)
    {
        Remove(bytes);
        _endedCalls.Add(1);
        _endedBytes.Add(bytes);
        _endedCalls.Measure(now);
        _endedBytes.Measure(now);
    }

    /// <summary>How long, at the rate at which calls ended lately, until another call of <paramref name="bytes"/> bytes has a chance: 1 ms to 1 s.</summary>
    public readonly TimeSpan TimeToRoom(int bytes)
    {
        var (calls, time) = (_endedCalls.TimeFor((Calls / 8) + 1), _endedBytes.TimeFor(bytes + (Bytes / 8)));
        return calls > time ? calls : time;
    }
}
