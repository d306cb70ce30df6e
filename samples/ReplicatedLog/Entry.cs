namespace ReplicatedLog;

/// <summary>One line of the log: who wrote it, and what.</summary>
internal sealed record Entry(string Author, string Text);
