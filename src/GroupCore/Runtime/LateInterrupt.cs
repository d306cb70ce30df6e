namespace GroupCore.Runtime;

/// <summary>
/// An interrupt that comes after the users' code that it is meant for has ended. It stays with the thread and would end the next wait there, such as that for
/// a lock, whose ever that is.
/// </summary>
internal static class LateInterrupt
{
    private static readonly ManualResetEvent s_set = new(true);

    /// <summary>Takes it away from the calling thread, if there is one.</summary>
    public static void Take()
    {
        try
        {
            // A wait that can be interrupted, for what is there: some 100 ns, and the core is not given up.
            s_set.WaitOne(0);
        }
        catch (ThreadInterruptedException)
        {
        }
    }
}
