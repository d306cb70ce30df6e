namespace GroupCore.Basics;

/// <summary>Locks for code that runs on any thread: callers lend their threads to a node's turns, and user code may have had its thread interrupted.</summary>
internal static class LockExtensions
{
    /// <summary>
    /// Enters the lock even if the thread is interrupted: otherwise the interrupt would end the wait in the middle of a turn, and so end the node. The interrupt
    /// stays with the thread and ends a later wait of the thread's own code.
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
