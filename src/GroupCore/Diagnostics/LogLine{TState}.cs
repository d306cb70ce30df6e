using Microsoft.Extensions.Logging;

namespace GroupCore.Diagnostics;

/// <summary>An event and its values; <paramref name="write"/> calls the method that the generator made for its text.</summary>
internal sealed class LogLine<TState>(string category, TState state, Action<ILogger, TState> write) : LogLine(category)
{
    public override void Write(ILogger logger) => write(logger, state);
}
