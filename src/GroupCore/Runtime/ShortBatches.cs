namespace GroupCore.Runtime;

/// <summary>
/// Whether batches of completions are short as a rule: they are once <see cref="Streak"/> in a row were. A single long one among as many is forgiven: where
/// processes share cores it was short, and its thread had to wait in it. Written by who runs a batch, read by both threads.
/// </summary>
/// <remarks>Not forgiven, each cost the thread switches of the next 64 batches: 9 % of puts of four callers at two cores.</remarks>
internal struct ShortBatches
{
    /// <summary>How many in a row.</summary>
    public const int Streak = 32;

    /// <summary>A batch that takes as long is no short one.</summary>
    public const long LongNanoseconds = 50_000;
    private int _count;

    /// <summary>Whether they are.</summary>
    public readonly bool AreUsual => Volatile.Read(in _count) >= Streak;

    /// <summary>A batch took so long.</summary>
    public void Add(long nanoseconds) =>
        Volatile.Write(ref _count, nanoseconds < LongNanoseconds ? Math.Min(_count + 1, 2 * Streak) : Math.Max(_count - Streak, 0));
}
