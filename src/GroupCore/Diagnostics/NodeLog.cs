using Microsoft.Extensions.Logging;

namespace GroupCore.Diagnostics;

/// <summary>
/// Through this the parts of one node write to the user's logger. A node without a logger has <see cref="None"/>: a part that has something to tell asks
/// <see cref="IsOn"/> first, and then makes no line.
/// </summary>
internal sealed class NodeLog
{
    private readonly LogQueue? _queue;
    private readonly Func<string> _name = static () => "";
    private readonly Action _wake = static () => { };

    private NodeLog()
    {
    }

    /// <param name="queue">Where the lines wait.</param>
    /// <param name="name">The name of the node in its lines: its address.</param>
    /// <param name="wake">Has <see cref="LogQueue.Write()"/> called soon, on another thread or after this turn.</param>
    public NodeLog(LogQueue queue, Func<string> name, Action wake) => (_queue, _name, _wake) = (queue, name, wake);

    /// <summary>The log of a node without a logger.</summary>
    public static NodeLog None { get; } = new();

    /// <summary>Whether anybody listens.</summary>
    public bool IsOn => _queue is not null;

    /// <summary>The node, as its lines name it.</summary>
    public string Name => _name();

    /// <summary>Lines that were dropped because the logger was slow.</summary>
    public long Dropped => _queue?.Dropped ?? 0;

    /// <summary>Lines that were lost because the logger threw.</summary>
    public long Failed => _queue?.Failed ?? 0;

    /// <summary>Adds a line. From any thread; never blocks.</summary>
    public void Add<TState>(string category, TState state, Action<ILogger, TState> write)
    {
        if (_queue?.Add(new LogLine<TState>(category, state, write)) == true) _wake();
    }
}
