namespace GroupCore.Hosting;

/// <summary>
/// Which thread may run a node: the owner of the loop, one of the loop's two threads; a caller, while the owner sleeps, looks for work or runs
/// completions; a thread that runs completions, to send what callers' turns left unsent; or the follower, while the owner runs completions.
/// Never two at a time, and only the loop's two threads ever wait for it.
/// </summary>
internal sealed class LoopOwnership
{
    private const int Lent = -1;
    private int _state;
    private int _wanted;

    /// <summary>The owner lets other threads take the loop. A full fence.</summary>
    public void Open(LoopState state) => Interlocked.Exchange(ref _state, (int)state);

    /// <summary>The owner takes the loop back after it has slept or looked for work. If a caller has the loop, this waits until the caller returns it.</summary>
    public void Close() => _ = TryTake(static _ => true);

    /// <summary>
    /// Takes the owner's role, which is free while the owner's thread runs completions. That thread calls this when it comes back, the follower to take over.
    /// False when the other thread has the role.
    /// </summary>
    public bool TryResume() => TryTake(static state => state == (int)LoopState.RunningCompletions);

    /// <summary>A caller takes the loop if the owner sleeps or, with <paramref name="atOnce"/>, if the owner is in no turn.</summary>
    public bool TryBorrow(bool atOnce, out LoopState from)
    {
        int state = Volatile.Read(ref _state);
        from = (LoopState)state;
        bool free = atOnce ? state > (int)LoopState.Turning : from == LoopState.Asleep;
        return free && Volatile.Read(ref _wanted) == 0 && Interlocked.CompareExchange(ref _state, Lent, state) == state;
    }

    /// <summary>The caller gives the loop back. A full fence.</summary>
    public void Return(LoopState to) => Interlocked.Exchange(ref _state, (int)to);

    /// <summary>True for the one thread that has to wake the sleeping owner.</summary>
    public bool TryRouse() => Volatile.Read(ref _state) == (int)LoopState.Asleep
        && Interlocked.CompareExchange(ref _state, (int)LoopState.Looking, (int)LoopState.Asleep) == (int)LoopState.Asleep;

    private bool TryTake(Func<int, bool> from)
    {
        var wait = default(SpinWait);
        while (true)
        {
            int state = Volatile.Read(ref _state);
            if (state == Lent)
            {
                // Keeps the next caller out: sockets and timers are waiting for this thread.
                Volatile.Write(ref _wanted, 1);
                Spin(ref wait);
                continue;
            }
            bool taken = from(state) && Interlocked.CompareExchange(ref _state, (int)LoopState.Turning, state) == state;
            if (!taken && from(state)) continue;
            Volatile.Write(ref _wanted, 0);
            return taken;
        }
    }

    // Some yields of SpinOnce are sleeps, which a late interrupt ends. The interrupt is ignored: the user code it was meant for has ended.
    private static void Spin(ref SpinWait wait)
    {
        try
        {
            wait.SpinOnce(sleep1Threshold: -1);
        }
        catch (ThreadInterruptedException)
        {
        }
    }
}
