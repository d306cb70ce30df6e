using GroupCore.Platform;

namespace GroupCore.Hosting;

/// <summary>
/// Where the follower, the second thread of a loop, waits, and the rule by which it takes over from an owner that runs completions. If completions usually
/// take long, the owner calls it at once. Otherwise it takes over only after it has looked twice, <see cref="WatchMilliseconds"/> apart, and found the owner
/// in the same batch.
/// </summary>
/// <remarks>
/// Short completions then cost no thread switch. The first long one leaves the node unattended for at most twice <see cref="WatchMilliseconds"/>; from then
/// on the follower is called each time, until batches are short again (<see cref="ShortBatches"/>).
/// </remarks>
internal sealed class FollowerThread(bool portable) : IDisposable
{
    private const int WatchMilliseconds = 1;
    private readonly ThreadSignal _signal = new(portable);
    private int _parked;
    private int _watching;
    private int _batches;
    private ShortBatches _short;
    private volatile bool _ended;

    /// <summary>Whether the follower waits here, so that the owner may go and run completions.</summary>
    public bool IsParked => Volatile.Read(ref _parked) == 1;

    /// <summary>The owner leaves to run completions; others may take the loop.</summary>
    public void OnLeft()
    {
        Volatile.Write(ref _batches, _batches + 1);
        Interlocked.MemoryBarrier();
        if (!_short.AreUsual || Volatile.Read(ref _watching) == 0) _signal.Set();
    }

    /// <summary>The thread that left has run its completions, which took this many nanoseconds.</summary>
    public void OnBack(long nanoseconds) => _short.Add(nanoseconds);

    /// <summary>Ends the wait for good.</summary>
    public void End()
    {
        _ended = true;
        _signal.Set();
    }

    /// <summary>Waits until the follower should take over from an owner that still runs completions.</summary>
    public void Park()
    {
        Volatile.Write(ref _parked, 1);
        while (!_ended)
        {
            int seen = Volatile.Read(ref _batches);
            if (_signal.Wait(_watching == 1 ? WatchMilliseconds : Timeout.Infinite))
            {
                if (!_short.AreUsual) break;
                Volatile.Write(ref _watching, 1);
                continue;
            }
            if (Volatile.Read(ref _batches) != seen) continue;
            // The owner is still in the same batch, or nothing happens at all: stop watching. From now on an owner that leaves must signal.
            Interlocked.Exchange(ref _watching, 0);
            if (Volatile.Read(ref _batches) == seen) break;
            Volatile.Write(ref _watching, 1);
        }
        Volatile.Write(ref _parked, 0);
    }

    public void Dispose() => _signal.Dispose();
}
