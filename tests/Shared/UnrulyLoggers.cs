using Microsoft.Extensions.Logging;

namespace Ida.Tests.Shared;

/// <summary>Loggers of a careless program: wherever they are called they do something first, such as throwing, or keeping their thread.</summary>
internal sealed class UnrulyLoggers(Action first) : ILoggerFactory
{
    public ILogger CreateLogger(string categoryName)
    {
        first();
        return new Unruly(first);
    }

    public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

    public void Dispose()
    {
        // It holds nothing.
    }

    private sealed class Unruly(Action first) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel)
        {
            first();
            return true;
        }

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            first();
            _ = formatter(state, exception);
        }
    }
}
