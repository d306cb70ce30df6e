using System.Globalization;
using Microsoft.Extensions.Logging;

namespace Ida.NetworkMember;

/// <summary>Writes the node's log to a file, and knows which events have come.</summary>
internal sealed class EventLog(string file) : ILoggerFactory, ILogger
{
    private readonly Lock _lock = new();
    private readonly SortedSet<string> _names = new(StringComparer.Ordinal);

    /// <summary>The names of the events so far.</summary>
    public IReadOnlyList<string> Names
    {
        get
        {
            lock (_lock) return [.. _names];
        }
    }

    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

    public void Dispose()
    {
    }

    public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

    public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        lock (_lock)
        {
            if (eventId.Name is { } name) _names.Add(name);
            File.AppendAllText(file, string.Create(CultureInfo.InvariantCulture, $"{DateTime.UtcNow:HH:mm:ss.fff} {eventId.Id} {eventId.Name}: {formatter(state, exception)}\n"));
        }
    }
}
