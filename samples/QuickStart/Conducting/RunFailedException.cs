namespace QuickStart.Conducting;

/// <summary>The run cannot go on: a member ended on its own, or a wait of the conductor ran into its bound.</summary>
internal sealed class RunFailedException(string message) : Exception(message);
