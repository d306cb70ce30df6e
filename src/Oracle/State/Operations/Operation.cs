namespace Oracle.State.Operations;

/// <summary>What a log entry can do to the state. Sources: oracle.md#messages.</summary>
internal abstract record Operation;
