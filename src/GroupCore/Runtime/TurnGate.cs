namespace GroupCore.Runtime;

/// <summary>
/// Who may run a node: the pilot, one of the loop's two threads; or a caller, while the pilot sleeps, looks around for work or runs
/// completions; or a runner of completions, for what callers left to be sent; or the other thread, while the pilot runs completions. Never two at a time, and only the
/// two threads ever wait for it.
/// </summary>
internal sealed class TurnGate
{
    private const int Lent = -1;
    private int _state;
    private int _wanted;

    /// <summary>The pilot lets others in. A full fence.</summary>
    public void Open(PilotState state) => Interlocked.Exchange(ref _state, (int)state);

    /// <summary>The pilot, who slept or looked around, takes the node back when the caller that has it is through.</summary>
    public void Close() => _ = TryTake(static _ => true);

    /// <summary>Takes the role of a pilot who is away: that one itself or the other thread. False when it is not to be had.</summary>
    public bool TryResume() => TryTake(static state => state == (int)PilotState.Away);

    /// <summary>A caller takes the node if the pilot sleeps, or if it wants it <paramref name="atOnce"/> and the pilot does no turn.</summary>
    public bool TryBorrow(bool atOnce, out PilotState from)
    {
        int state = Volatile.Read(ref _state);
        from = (PilotState)state;
        bool free = atOnce ? state > (int)PilotState.Turning : from == PilotState.Asleep;
        return free && Volatile.Read(ref _wanted) == 0 && Interlocked.CompareExchange(ref _state, Lent, state) == state;
    }

    /// <summary>The caller gives it back. A full fence.</summary>
    public void Return(PilotState to) => Interlocked.Exchange(ref _state, (int)to);

    /// <summary>True for the one who has to wake the sleeping pilot.</summary>
    public bool TryRouse() => Volatile.Read(ref _state) == (int)PilotState.Asleep
        && Interlocked.CompareExchange(ref _state, (int)PilotState.Looking, (int)PilotState.Asleep) == (int)PilotState.Asleep;

    private bool TryTake(Func<int, bool> from)
    {
        var wait = default(SpinWait);
        while (true)
        {
            int state = Volatile.Read(ref _state);
            if (state == Lent)
            {
                // The next caller is not to be faster: sockets and timers wait.
                Volatile.Write(ref _wanted, 1);
                Spin(ref wait);
                continue;
            }
            bool taken = from(state) && Interlocked.CompareExchange(ref _state, (int)PilotState.Turning, state) == state;
            if (!taken && from(state)) continue;
            Volatile.Write(ref _wanted, 0);
            return taken;
        }
    }

    // Some of its yields are sleeps, which a late interrupt ends: it is meant for users' code that is over.
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
