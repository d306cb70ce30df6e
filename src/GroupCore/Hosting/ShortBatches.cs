namespace GroupCore.Hosting;

/// <summary>
/// Whether batches of completions are usually short: they are once <see cref="Streak"/> in a row were. One long batch among that many is forgiven: where processes
/// share cores, a short batch looks long if its thread had to wait for a core. Written by the thread that runs a batch, read by both threads.
/// </summary>
/// <remarks>When no long batch was forgiven, each cost thread switches in all batches until a new streak: 9 % of the puts of four callers on two cores.</remarks>
internal struct ShortBatches
{
    /// <summary>How many short batches in a row make them usual.</summary>
    public const int Streak = 32;

    /// <summary>A batch that takes this long is not short.</summary>
    public const long LongNanoseconds = 50_000;
    private int _count;

    /// <summary>Whether short batches are usual.</summary>
    public readonly bool AreUsual => Volatile.Read(in _count) >= Streak;

    /// <summary>Notes how long a batch took.</summary>
    public void Add(long nanoseconds) =>
        Volatile.Write(ref _count, nanoseconds < LongNanoseconds ? Math.Min(_count + 1, 2 * Streak) : Math.Max(_count - Streak, 0));
}
