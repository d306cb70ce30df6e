using Microsoft.Extensions.Logging;

namespace Ida.Tests.Shared;

/// <summary>A logger that keeps what it is told.</summary>
internal sealed class LogCollector(Action<EventId>? onLine = null) : ILoggerFactory
{
    private readonly Lock _gate = new();
    private readonly List<LogEntry> _entries = [];

    /// <summary>What was told so far, in order.</summary>
    public IReadOnlyList<LogEntry> Entries
    {
        get
        {
            using (_gate.EnterScope()) return [.. _entries];
        }
    }

    /// <summary>The names of the loggers that were made.</summary>
    public IReadOnlyList<string> Categories
    {
        get
        {
            using (_gate.EnterScope()) return [.. _categories];
        }
    }

    private readonly List<string> _categories = [];

    public ILogger CreateLogger(string categoryName)
    {
        using (_gate.EnterScope()) _categories.Add(categoryName);
        return new Logger(this, categoryName);
    }

    public void AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

    public void Dispose()
    {
    }

    private sealed class Logger(LogCollector collector, string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            collector.Add(new(category, eventId.Id, eventId.Name ?? "", logLevel, formatter(state, exception), exception));
            collector.OnLine(eventId);
        }
    }

    private void Add(LogEntry entry)
    {
        using (_gate.EnterScope()) _entries.Add(entry);
    }

    private void OnLine(EventId id) => onLine?.Invoke(id);
}

/// <summary>One line of a log.</summary>
internal sealed record LogEntry(string Category, int Id, string Name, LogLevel Level, string Message, Exception? Exception);
