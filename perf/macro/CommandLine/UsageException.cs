namespace Ida.Perf.Macro.CommandLine;

/// <summary>The command line makes no sense; the message is one line.</summary>
internal sealed class UsageException(string message) : Exception(message);
