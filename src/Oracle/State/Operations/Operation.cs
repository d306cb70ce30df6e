namespace Oracle.State.Operations;

/// <summary>An operation of a log entry on the state. Sources: oracle.md#messages.</summary>
internal abstract record Operation;
