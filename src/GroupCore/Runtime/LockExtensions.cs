namespace GroupCore.Runtime;

/// <summary>Locks of code that runs on anybody's thread: callers lend theirs to a node's turns, and users' code may have got its own interrupted.</summary>
internal static class LockExtensions
{
    /// <summary>
    /// Enters whatever comes. An interrupt would end the wait for the lock in the midst of a turn, and with it the node; it stays with the thread and ends
    /// a wait of its own code.
    /// </summary>
    public static Lock.Scope Hold(this Lock gate)
    {
        bool interrupted = false;
        while (true)
        {
            try
            {
                var held = gate.EnterScope();
                if (interrupted) Thread.CurrentThread.Interrupt();
                return held;
            }
            catch (ThreadInterruptedException)
            {
                interrupted = true;
            }
        }
    }
}
