namespace GroupCore.Basics;

/// <summary>
/// An interrupt that comes after the user code for which it is meant has ended. It stays with the thread and would end the thread's next wait, such as one for
/// a lock of the node.
/// </summary>
internal static class LateInterrupt
{
    private static readonly ManualResetEvent s_set = new(true);

    /// <summary>Clears such an interrupt of the calling thread, if there is one.</summary>
    public static void Take()
    {
        try
        {
            // An interruptible wait for an event that is always set: some 100 ns, and the core is not given up.
            s_set.WaitOne(0);
        }
        catch (ThreadInterruptedException)
        {
        }
    }
}
