namespace GroupCore.Runtime;

/// <summary>What a <see cref="Node"/> needs from its host: the loop in production, or the simulator.</summary>
internal interface IHostPort
{
    /// <summary>
    /// A command was queued: make sure that it runs. The host may run it before this call returns, and, if it was <paramref name="kept"/>
    /// (<see cref="NodeCommand.IsKept"/>), complete it too. Called from any thread.
    /// </summary>
    void Posted(NodeCommand command, bool kept) => Wake();

    /// <summary>The clock of the node at this moment, in nanoseconds. Called on the thread that runs the node.</summary>
    long Clock();

    /// <summary>Make sure that a turn comes. Called from any thread.</summary>
    void Wake();

    /// <summary>Runs the completions of a turn, in any order, outside of the loop. The list is reused after the call returns: take a copy.</summary>
    void RunCompletions(List<ICompletion> completions);

    /// <summary>Runs one piece of work outside of the loop and outside of this call. Called from any thread.</summary>
    void Resume(ICompletion work);
}
