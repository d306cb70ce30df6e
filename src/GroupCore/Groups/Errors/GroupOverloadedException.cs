using GroupCore.Basics;

namespace GroupCore.Groups;

/// <summary>
/// More came for this member than it may hold: frames of a view that it could not install in time, or messages that its handlers did not handle while views
/// came and went. The member has left the group.
/// </summary>
public sealed class GroupOverloadedException : InvalidOperationException, ISharedError
{
    /// <summary>For frames of a view that is not installed here.</summary>
    public GroupOverloadedException(string group, long bytes)
        : this($"Group '{group}': more than {bytes} bytes arrived for a view that is not installed here.")
    {
    }

    private GroupOverloadedException(string message)
        : base(message)
    {
    }

    internal static GroupOverloadedException ByHandlers(string group, long bytes) =>
        new($"Group '{group}': more than {bytes} bytes wait for the handlers of this member, counting each message as at least {GroupLimits.Cost(0)} bytes.");

    Exception ISharedError.Copy() => new GroupOverloadedException(Message);
}
