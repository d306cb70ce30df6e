using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>
/// Judges messages that handlers send to one member. While a member is wedged they overtake what its callers send, and each other, so their order is
/// not judged: only that they are received, once, with the state, in their view and while their sender is a member.
/// </summary>
internal static class Nested
{
    /// <summary>The violations found by a checker that is told only of these messages and the views; null for none.</summary>
    public static string? Broken(VirtualSynchronyChecker checker)
    {
        if (checker.Passed) return null;
        var broken = checker.Violations.Where(static v => v.Guarantee is GroupGuarantee.SendingView or GroupGuarantee.Finalisation or GroupGuarantee.StateTransfer
            || v.Message.Contains("not received", StringComparison.Ordinal) || v.Message.Contains("twice", StringComparison.Ordinal)).ToList();
        return broken.Count == 0 ? null : string.Join('\n', broken);
    }
}
