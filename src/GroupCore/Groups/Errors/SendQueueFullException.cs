using GroupCore.Transport;

namespace GroupCore.Groups;

/// <summary>Too much already waits to be sent in the group, to one of its members, or at this node: the call is refused, and nothing of it was sent.</summary>
public sealed class SendQueueFullException : InvalidOperationException
{
    /// <summary>For a group in which <paramref name="calls"/> already wait for the window.</summary>
    public SendQueueFullException(string group, int calls)
        : this(group, calls, $"{calls} calls already wait to send to group '{group}': await them before you send more.")
    {
    }

    internal SendQueueFullException(string group, int calls, string message)
        : base(message) => (Group, Calls) = (group, calls);

    /// <summary>Name of the group.</summary>
    public string Group { get; }

    /// <summary>How many calls wait: for <see cref="Receiver"/> if it is set, else in the whole group.</summary>
    public int Calls { get; }

    /// <summary>The member that these calls wait for, as it handles nothing or loads the group's state; others can still be sent to. Null if no single member is the cause.</summary>
    public NodeAddress? Receiver { get; internal init; }

    /// <summary>How long to wait before the same call has a chance again: computed from the rate at which calls ended lately; 1 ms to 1 s.</summary>
    public TimeSpan RetryAfter { get; internal init; } = TimeSpan.FromMilliseconds(1);
}
