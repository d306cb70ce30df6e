namespace Oracle.State;

/// <summary>Status of a process in the table.</summary>
internal enum ProcessStatus
{
    Alive,

    /// <summary>Leaving of its own will: it leaves its groups, and is not chosen as a voter.</summary>
    Leaving,

    /// <summary>Excluded. There is no way back for this incarnation.</summary>
    Excluded,
}
