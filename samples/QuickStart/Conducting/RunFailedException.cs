namespace QuickStart.Conducting;

/// <summary>The run cannot go on: a member ended on its own, or something did not happen in time.</summary>
internal sealed class RunFailedException(string message) : Exception(message);
