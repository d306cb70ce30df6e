using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace GroupCore.Diagnostics;

/// <summary>
/// The lines of one <c>IdaNode</c> on their way to the user's logger. A logger is user code: it may block, throw, and call the node. So a thread that has something
/// to tell only adds a line and goes on; one worker at a time writes, outside of turns and without a lock. All lives of the node share the queue: otherwise each
/// life could leave a blocked worker behind.
/// </summary>
/// <remarks>
/// At most <see cref="Capacity"/> lines wait. Further lines are dropped and counted, and their count becomes a line as soon as the logger takes lines again.
/// A line is lost if the logger throws at it. Lines keep the order of the calls. The logger gets a line a moment after the event, when the worker reaches it.
/// </remarks>
internal sealed class LogQueue(ILoggerFactory factory)
{
    public const int Capacity = 1_024;
    private readonly ConcurrentQueue<LogLine> _lines = new();

    // Only the worker uses it, since making a logger runs user code too.
    private readonly Dictionary<string, ILogger> _loggers = [];
    private int _waiting;
    private int _working;
    private long _untold;
    private long _dropped;
    private long _failed;

    /// <summary>Lines that were dropped because too many waited. From any thread.</summary>
    public long Dropped => Volatile.Read(ref _dropped);

    /// <summary>Lines at which the logger threw. From any thread.</summary>
    public long Failed => Volatile.Read(ref _failed);

    /// <summary>Lines that wait. From any thread.</summary>
    public int Waiting => Volatile.Read(ref _waiting);

    /// <summary>Adds a line, or drops it if too many wait. True when there is no worker: then the caller must have <see cref="Write()"/> called. From any thread.</summary>
    public bool Add(LogLine line)
    {
        if (Interlocked.Increment(ref _waiting) > Capacity)
        {
            Interlocked.Decrement(ref _waiting);
            Interlocked.Increment(ref _untold);
            Interlocked.Increment(ref _dropped);
            return false;
        }
        _lines.Enqueue(line);
        return Interlocked.Exchange(ref _working, 1) == 0;
    }

    /// <summary>Writes all lines that wait. Outside of turns, and only after <see cref="Add"/> returned true.</summary>
    public void Write()
    {
        do
        {
            while (_lines.TryDequeue(out var line))
            {
                Interlocked.Decrement(ref _waiting);
                Write(line);
                long untold = Interlocked.Exchange(ref _untold, 0);
                if (untold > 0) Write(GroupCoreEvents.Dropped(untold));
            }
            // A full fence: a line whose adder still found a worker is seen below.
            Interlocked.Exchange(ref _working, 0);
        }
        while (!_lines.IsEmpty && Interlocked.Exchange(ref _working, 1) == 0);
    }

    /// <summary>The process ends: blocks the calling thread until the lines are written, for at most <paramref name="limit"/>.</summary>
    public void Finish(TimeSpan limit) => SpinWait.SpinUntil(() => Waiting == 0 && Volatile.Read(ref _working) == 0, limit);

    private void Write(LogLine line)
    {
        try
        {
            if (!_loggers.TryGetValue(line.Category, out var logger)) _loggers.Add(line.Category, logger = factory.CreateLogger(line.Category));
            line.Write(logger);
        }
        catch (Exception)
        {
            // There is nobody else to tell: this would go to the logger itself.
            Interlocked.Increment(ref _failed);
        }
    }
}
