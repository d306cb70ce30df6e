using Microsoft.Extensions.Logging;

namespace GroupCore.Diagnostics;

/// <summary>An event with what it tells; <paramref name="write"/> calls the message that the generator made.</summary>
internal sealed class LogLine<TState>(string category, TState state, Action<ILogger, TState> write) : LogLine(category)
{
    public override void Write(ILogger logger) => write(logger, state);
}
