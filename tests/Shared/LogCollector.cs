using GroupCore.Runtime;
using Microsoft.Extensions.Logging;

namespace Ida.Tests.Shared;

/// <summary>A logger that keeps what it gets.</summary>
internal sealed class LogCollector(Action<EventId>? onLine = null) : ILoggerFactory
{
    private readonly Lock _gate = new();
    private readonly List<LogEntry> _entries = [];
    private readonly List<(string Name, TaskCompletionSource<LogEntry> Told)> _awaited = [];

    /// <summary>The lines so far, in order.</summary>
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

    /// <summary>The first line of this name, once it has come.</summary>
    public Task<LogEntry> FirstAsync(string name)
    {
        using (_gate.EnterScope())
        {
            if (_entries.Find(entry => entry.Name == name) is { } told) return Task.FromResult(told);
            var first = new TaskCompletionSource<LogEntry>(TaskCreationOptions.RunContinuationsAsynchronously);
            _awaited.Add((name, first));
            return first.Task;
        }
    }

    /// <summary>All that a node has logged so far, including lines that are still on their way.</summary>
    public async Task<IReadOnlyList<LogEntry>> ToldAsync(INode node)
    {
        const string Mark = "Mark";
        node.Log.Add(Mark, 0, static (logger, _) => logger.Log(LogLevel.Trace, new EventId(1, Mark), 0, null, static (_, _) => Mark));
        var mark = await FirstAsync(Mark).ConfigureAwait(false);
        return [.. Entries.TakeWhile(entry => !ReferenceEquals(entry, mark))];
    }

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
        using (_gate.EnterScope())
        {
            _entries.Add(entry);
            foreach (var (name, told) in _awaited)
                if (name == entry.Name) told.TrySetResult(entry);
        }
    }

    private void OnLine(EventId id) => onLine?.Invoke(id);
}

/// <summary>One line of a log.</summary>
internal sealed record LogEntry(string Category, int Id, string Name, LogLevel Level, string Message, Exception? Exception);
