using GroupCore.Basics;

namespace GroupCore.Groups;

/// <summary>This process was excluded from the system: all its groups are over, and it must join again as a new member.</summary>
public sealed class ExcludedException(string reason) : InvalidOperationException($"This process was excluded: {reason}."), ISharedError
{
    Exception ISharedError.Copy() => new ExcludedException(reason);
}
