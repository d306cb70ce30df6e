using GroupCore.Transport;

namespace GroupCore.Groups;

/// <summary>So much waits to be sent in the group, to one of its members, or at this node that one call more is refused; nothing of it was sent.</summary>
public sealed class SendQueueFullException : InvalidOperationException
{
    /// <summary>For <paramref name="calls"/> that wait for the window of a group.</summary>
    public SendQueueFullException(string group, int calls)
        : this(group, calls, $"{calls} calls already wait to send to group '{group}': await them before you send more.")
    {
    }

    internal SendQueueFullException(string group, int calls, string message)
        : base(message) => (Group, Calls) = (group, calls);

    /// <summary>Name of the group.</summary>
    public string Group { get; }

    /// <summary>How many calls wait: to <see cref="Receiver"/> where there is one, else in the group.</summary>
    public int Calls { get; }

    /// <summary>The member to which so many wait, since it handles nothing or loads the group's state; null when it is not by one: others can be sent to.</summary>
    public NodeAddress? Receiver { get; internal init; }

    /// <summary>How long to wait before the same call has a chance again: computed from the rate at which calls ended lately; 1 ms to 1 s.</summary>
    public TimeSpan RetryAfter { get; internal init; } = TimeSpan.FromMilliseconds(1);
}
