namespace ReplicatedLog;

/// <summary>One line of the log: its author and its text.</summary>
internal sealed record Entry(string Author, string Text);
