namespace GroupCore.Runtime;

/// <summary>What a <see cref="Node"/> needs of whoever hosts it: the loop thread or the simulator.</summary>
internal interface IHostPort
{
    /// <summary>
    /// A command was queued: make sure that it is run. It may be run before the call returns, and if it was <paramref name="kept"/> (<see cref="NodeCommand.IsKept"/>)
    /// completed too. Called from any thread.
    /// </summary>
    void Posted(NodeCommand command, bool kept) => Wake();

    /// <summary>What the clock of the node shows at this moment, in nanoseconds. On the thread that has the node.</summary>
    long Clock();

    /// <summary>Make sure that a turn comes. Called from any thread.</summary>
    void Wake();

    /// <summary>Runs the completions of a turn, in any order, outside of the loop. The list is reused after the call returns: take a copy.</summary>
    void RunCompletions(List<ICompletion> completions);

    /// <summary>Runs one piece of work outside of the loop and outside of this call. Called from any thread.</summary>
    void Resume(ICompletion work);
}
