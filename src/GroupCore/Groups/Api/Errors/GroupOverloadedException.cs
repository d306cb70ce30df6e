using GroupCore.Runtime;

namespace GroupCore.Groups;

/// <summary>Frames of a view that this member could not install in time passed the bound that holds them; the member has left the group.</summary>
public sealed class GroupOverloadedException(string group, long bytes) : InvalidOperationException($"Group '{group}': more than {bytes} bytes arrived for a view that is not installed here."), ISharedError
{
    Exception ISharedError.Copy() => new GroupOverloadedException(group, bytes);
}
