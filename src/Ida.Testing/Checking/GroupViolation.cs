using GroupCore.Membership;

namespace Ida.Testing.Checking;

/// <summary>A guarantee that was broken.</summary>
/// <param name="Guarantee">Which one.</param>
/// <param name="Process">At which process it showed.</param>
/// <param name="View">In which view.</param>
/// <param name="Message">What happened.</param>
public sealed record GroupViolation(GroupGuarantee Guarantee, ProcessId Process, ulong View, string Message)
{
    /// <summary>All of it on one line.</summary>
    public override string ToString() => $"{Guarantee} at {Process} in view {View}: {Message}";
}
