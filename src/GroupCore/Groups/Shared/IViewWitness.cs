namespace GroupCore.Groups.Shared;

/// <summary>What a protocol of one view says of the view's other members, and where it asks for help. On the loop.</summary>
internal interface IViewWitness
{
    Suspicions Suspicions { get; }

    /// <summary>Whether the group's options let slow members be excluded.</summary>
    bool EvictsSlow { get; }

    /// <summary>After what time a member then counts as slow.</summary>
    long SlowNanoseconds { get; }

    /// <summary>Whether others say that they are in a view change that this member has not heard of.</summary>
    bool IsBehind { get; }

    /// <summary>Suspects a member of holding this one up, until the view is over.</summary>
    void SuspectForGood(int rank);

    /// <summary>Tells the user that a member holds the others up.</summary>
    void ReportSlow(int rank, string why);

    /// <summary>A member that loads the state, or catches up after its load, says that it makes progress.</summary>
    void OnLoading(int rank);

    /// <summary>Whether the load of this member, or its catching up after it, has made progress since the last call.</summary>
    bool LoadMoved();

    /// <summary>
    /// Asks once in a view for another one with the same members. Its flush brings messages that are missing here, and numbers of messages or positions that have
    /// become large begin again.
    /// </summary>
    void AskForView();
}
