namespace Oracle.State;

/// <summary>Where a process stands in the table.</summary>
internal enum ProcessStatus
{
    Alive,

    /// <summary>On its way out of its own will: leaves its groups, is not chosen as voter.</summary>
    Leaving,

    /// <summary>Excluded. There is no way back for this incarnation.</summary>
    Failed,
}
