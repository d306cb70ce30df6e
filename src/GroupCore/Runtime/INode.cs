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
public interface INode
{
    /// <summary>Random 64-bit name of this life of the node; a process that rejoins after poisoning gets a new one.</summary>
    ulong Id { get; }

    /// <summary>Monotonic time in nanoseconds; constant within one step, comparable only with values of the same node.</summary>
    long Now { get; }

    /// <summary>
    /// What the clock behind <see cref="Now"/> shows at this moment: for what must not be judged by a time before a freeze of the process, since
    /// a turn takes in what came after it. Some 35 ns; <see cref="Now"/> is free.
    /// </summary>
    internal long Clock() => Now;

    /// <summary>The only source of randomness a protocol may use.</summary>
    Prng Random { get; }

    /// <summary>Reliable FIFO links to other nodes.</summary>
    ILinks Links { get; }

    /// <summary>Counts of what was refused, by reason.</summary>
    NodeCounters Counters { get; }

    /// <summary>Rule of the specs that this node leaves out, for negative controls; <see cref="Rule.None"/> outside tests.</summary>
    internal Rule Without { get; }

    /// <summary>Calls <paramref name="target"/> once, not before <paramref name="due"/> (nanoseconds, clock of <see cref="Now"/>).</summary>
    TimerHandle SetTimer(long due, ITimerTarget target, long token);

    /// <summary>Cancels a timer; a handle that fired or was cancelled already is ignored.</summary>
    void CancelTimer(TimerHandle handle);

    /// <summary>Sends frames of the types from <paramref name="first"/> to <paramref name="last"/> to <paramref name="handler"/>. Each type has one handler.</summary>
    void Route(FrameType first, FrameType last, IFrameHandler handler);

    /// <summary>Adds a listener to what happens to links.</summary>
    void Observe(ILinkObserver observer);

    /// <summary>Adds a participant to the end of every turn, in the order of the calls.</summary>
    void AtEndOfTurn(ITurnParticipant participant);

    /// <summary>Adds a listener to the end of the node, by a stop or by a fault; not called where a process is simulated to crash.</summary>
    internal void AtStop(IStopListener listener)
    {
    }

    /// <summary>
    /// Runs <paramref name="work"/> after this turn outside of it, in no particular order: in production on a thread of the loop or of the thread
    /// pool, where a blocked one holds up no other for long; in simulation on its thread, after the turn or later. What needs an order keeps it itself.
    /// </summary>
    void Complete(ICompletion work);

    /// <summary>
    /// The same for a caller outside of the loop, on any thread: runs <paramref name="work"/> soon, but not in this call: as a work item
    /// of the thread pool in production, as a later step on the simulation's thread in simulation.
    /// </summary>
    void Resume(ICompletion work);

    /// <summary>Until <see cref="LendTurns"/> no caller runs a turn: handlers run inside of turns. Calls count, each needs its <see cref="LendTurns"/>.</summary>
    internal void KeepTurns();

    /// <summary>Those handlers are gone.</summary>
    internal void LendTurns()
    {
    }

    /// <summary>
    /// Queues a command from any thread; it runs inside a coming turn. False when the node has stopped, when the bounded queue is full, and
    /// while commands wait for room in it: they are older.
    /// </summary>
    bool TryPost(NodeCommand command);

    /// <summary>
    /// Queues a command from any thread, as soon as there is room and the older ones that wait for it have entered: commands of one caller run in
    /// the order of its calls, whether it awaits them or not. When the task throws the command was not taken and nobody will call it: the token
    /// fired (<see cref="OperationCanceledException"/>) or the node has stopped (<see cref="NodeStoppedException"/>).
    /// </summary>
    /// <remarks>A caller with a pooled command takes what it awaits from it before this call: the command may be done when it returns.</remarks>
    ValueTask PostAsync(NodeCommand command, CancellationToken cancellationToken = default);
}
