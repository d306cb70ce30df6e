namespace GroupCore.Groups;

/// <summary>The group that a <see cref="TerminationContext"/> speaks for.</summary>
internal interface IHookPort
{
    /// <summary>Sends a message of the hook to a member of the view that ends.</summary>
    ValueTask Send<T>(TerminationContext hook, int rank, string handler, T message);

    /// <summary>The hook needs nothing more; from any thread.</summary>
    void End(TerminationContext hook);

    /// <summary>The hook has failed.</summary>
    void Report(GroupError error);
}
