namespace Oracle.Client;

/// <summary>How long a process that may found waits for earlier seeds that are up but do not found.</summary>
/// <remarks>
/// A seed that was reached gets time to found (<see cref="Least"/>), and more time for each place that it is earlier than this process (up to 30 s) and for each earlier seed
/// (up to 5 s). So if a seed is waited for in vain, the next one founds well before the one behind it. But the user may give up on this process before that and start it again,
/// and its next life knows nothing of the wait so far. So the last seed waits for the first for at most three quarters of the time that it has to start, and earlier seeds less
/// in proportion. With very many seeds it waits longer, since their order matters more.
/// </remarks>
internal sealed class Deference
{
    /// <summary>A single seed founds after 2.5 s at most.</summary>
    private const long Least = 3_500 * Durations.Millisecond;
    private const long LeastStep = 500 * Durations.Millisecond;
    private const long MostEach = 5 * Durations.Second;
    private const long MostPerPlace = 30 * Durations.Second;
    private const long MostToClaim = 5 * Durations.Second;
    private static readonly TimeSpan s_mostTime = TimeSpan.FromDays(1);
    private readonly int _own;
    private readonly long _perPlace;
    private readonly long _each;

    /// <param name="options">Says how long this process may take to start.</param>
    /// <param name="own">Place of this process among the seeds: the number of earlier ones.</param>
    /// <param name="others">Number of other seeds.</param>
    public Deference(OracleOptions options, int own, int others)
    {
        _own = own;
        var time = options.StartTimeout == Timeout.InfiniteTimeSpan || options.StartTimeout > s_mostTime ? s_mostTime : options.StartTimeout;
        long budget = (time.Nanoseconds() / 4 * 3) - Least;
        long share = budget / Math.Max(1, others);
        _each = Math.Clamp(share / 2, LeastStep, MostEach);
        _perPlace = Math.Clamp(share - _each, LeastStep, MostPerPlace);
        ToClaim = Math.Clamp(budget / Math.Max(1, own), Least, MostToClaim);
    }

    /// <summary>How long to wait for a process that only says that it listens at a seed's address.</summary>
    public long ToClaim { get; }

    /// <summary>How long to wait for the seed at this earlier place, from when it was first heard.</summary>
    public long To(int place) => Least + ((_own - place) * _perPlace) + (_own * _each);
}
