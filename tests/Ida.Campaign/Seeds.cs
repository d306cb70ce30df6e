namespace Ida.Campaign;

/// <summary>Hands seeds to one thread per core, in their order.</summary>
internal static class Seeds
{
    /// <summary>Calls <paramref name="run"/> for each seed until all are done, a call returns false, or the run is cancelled.</summary>
    public static void Run(ulong first, int count, Func<ulong, bool> run, CancellationToken cancel)
    {
        int next = 0;
        bool stop = false;
        var threads = new Thread[Math.Min(Environment.ProcessorCount, count)];
        for (int i = 0; i < threads.Length; i++)
        {
            threads[i] = new(() =>
            {
                while (!Volatile.Read(ref stop) && !cancel.IsCancellationRequested)
                {
                    int index = Interlocked.Increment(ref next) - 1;
                    if (index >= count) return;
                    if (!run(first + (ulong)index)) Volatile.Write(ref stop, true);
                }
            });
            threads[i].Start();
        }
        foreach (var thread in threads) thread.Join();
    }
}
