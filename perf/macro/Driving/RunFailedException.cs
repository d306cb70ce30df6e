namespace Ida.Perf.Macro.Driving;

/// <summary>The run cannot go on or its result is wrong; the message is one line.</summary>
internal sealed class RunFailedException(string message) : Exception(message);
