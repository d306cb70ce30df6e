namespace Oracle.Raft;

/// <summary>What a log entry is for. The numbers are on the wire.</summary>
internal enum EntryKind : byte
{
    /// <summary>The first entry of a leader.</summary>
    Noop = 0,

    /// <summary>Voters and learners from here on; valid as soon as the entry is in a log.</summary>
    Configuration = 1,

    /// <summary>Operations of the membership state machine.</summary>
    Operations = 2,
}
