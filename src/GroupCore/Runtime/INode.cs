using GroupCore.Diagnostics;
using GroupCore.Transport;
using GroupCore.Wire;

namespace GroupCore.Runtime;

/// <summary>
/// What a protocol may do to the world: the effects port of the state machines of one node.
/// </summary>
/// <remarks>
/// A protocol is a single-threaded state machine without I/O, clock, thread, lock or ambient randomness. It is called in
/// <em>turns</em>: frames, callers' commands and due timers first, then <see cref="ITurnParticipant.EndOfTurn"/>, then what was
/// produced leaves in one gathered write per peer. The same protocol objects run under <c>NodeLoop</c> (a real thread and real
/// sockets) and under the simulator of <c>Ida.Testing</c> (virtual time and a seed).
/// Source: node-and-turn.md#pure-protocols, #the-steps-of-a-turn-have-one-order.
/// </remarks>
internal interface INode
{
    /// <summary>Random 64-bit name of this life of the node; a process that rejoins after it was excluded gets a new one.</summary>
    ulong Id { get; }

    /// <summary>Monotonic time in nanoseconds; constant within one step, comparable only with values of the same node.</summary>
    long Now { get; }

    /// <summary>
    /// The clock behind <see cref="Now"/>, read at this moment. For decisions, such as those on a lease, that must not use a time from before a freeze of the
    /// process: a turn that began before the freeze also takes in what came after it. Costs a read of the host's clock; <see cref="Now"/> is free.
    /// </summary>
    internal long Clock() => Now;

    /// <summary>The only source of randomness a protocol may use.</summary>
    Prng Random { get; }

    /// <summary>Reliable FIFO links to other nodes.</summary>
    ILinks Links { get; }

    /// <summary>Counts of refused input, by reason.</summary>
    NodeCounters Counters { get; }

    /// <summary>Name of the rule that a protocol of this node leaves out, for negative controls; null outside tests. Each layer makes its set of rules from it.</summary>
    internal string? Without { get; }

    /// <summary>Through this its parts write to the user's logger; set before the protocols are attached.</summary>
    internal NodeLog Log
    {
        get => NodeLog.None;
        set { }
    }

    /// <summary>Calls <paramref name="target"/> once, not before <paramref name="due"/> (nanoseconds, clock of <see cref="Now"/>).</summary>
    TimerHandle SetTimer(long due, ITimerTarget target, long token);

    /// <summary>Cancels a timer; a handle that fired or was cancelled already is ignored.</summary>
    void CancelTimer(TimerHandle handle);

    /// <summary>Sends frames of the types from <paramref name="first"/> to <paramref name="last"/> to <paramref name="handler"/>. Each type has one handler.</summary>
    void Route(FrameType first, FrameType last, IFrameHandler handler);

    /// <summary>Adds an observer of link events.</summary>
    void Observe(ILinkObserver observer);

    /// <summary>Adds a participant to the end of every turn, in the order of the calls.</summary>
    void AtEndOfTurn(ITurnParticipant participant);

    /// <summary>Adds a listener that is told when the node ends, by a stop or by a fault; a simulated crash of the process tells none.</summary>
    internal void AtStop(IStopListener listener)
    {
    }

    /// <summary>
    /// Runs <paramref name="work"/> after this turn, outside of it, in no particular order; work that needs an order keeps it itself. In production it runs on a
    /// thread of the loop or of the thread pool, and work that blocks does not hold up other work for long. In simulation it runs on the one thread, after the turn or later.
    /// </summary>
    void Complete(ICompletion work);

    /// <summary>
    /// Runs <paramref name="work"/> soon, but not in this call. May be called outside of the loop, from any thread. The work runs as a work item of the thread
    /// pool in production, and as a later step on the simulation's thread in simulation.
    /// </summary>
    void Resume(ICompletion work);

    /// <summary>No caller runs a turn until <see cref="LendTurns"/>, since inline handlers run inside of turns. Calls count: each needs its <see cref="LendTurns"/>.</summary>
    internal void KeepTurns();

    /// <summary>Ends one <see cref="KeepTurns"/>, when the inline handlers behind it are gone.</summary>
    internal void LendTurns()
    {
    }

    /// <summary>
    /// Some code of the library failed outside of all turns: the node ends with <paramref name="error"/>, as with an error that a turn throws. If the node is already
    /// ending, its end also reports the error, unless that end is over. From any thread.
    /// </summary>
    internal void Fail(Exception error) => this.Post(new FailureCommand(error));

    /// <summary>
    /// Queues a command from any thread; it runs inside a coming turn. False when the node has stopped, when the bounded queue is full, and
    /// while older commands wait for room in it.
    /// </summary>
    bool TryPost(NodeCommand command);

    /// <summary>
    /// Queues a command from any thread, once the queue has room and older commands that wait for it have entered: commands of one caller run in the order of
    /// its calls, whether it awaits them or not. If the task fails, the command was not taken, and neither <see cref="NodeCommand.Run"/> nor
    /// <see cref="NodeCommand.Abandon"/> will be called: the token fired (<see cref="OperationCanceledException"/>) or the node has stopped (<see cref="NodeStoppedException"/>).
    /// </summary>
    /// <remarks>If the command is pooled, take what you will await from it before this call: when the call returns, the command may serve another caller.</remarks>
    ValueTask PostAsync(NodeCommand command, CancellationToken cancellationToken = default);
}
