namespace Oracle.State.Operations;

/// <summary>What a log entry can do to the state. Sources: groupcore-oracle 4.5, 4.11.</summary>
internal abstract record Operation;
