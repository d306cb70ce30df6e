using Microsoft.Extensions.Logging;

namespace Ida.Exiting;

/// <summary>A logger that prints each line after the name of its event.</summary>
internal sealed class PrintedLog : ILoggerFactory, ILogger
{
    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

    public void Dispose()
    {
    }

    public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        Console.WriteLine($"{eventId.Name}: {formatter(state, exception)}");
}
