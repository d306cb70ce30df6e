using Ida.Testing.Checking;

namespace Ida.Scenarios;

/// <summary>
/// Messages to one that handlers send: while a member is wedged they overtake what its callers send, and each other, so that of
/// their order nothing can be judged: only that they are received, once, with the state, in their view and while their sender is a member.
/// </summary>
internal static class Nested
{
    /// <summary>What a checker that hears of nothing but them and the views found; null when nothing.</summary>
    public static string? Broken(VirtualSynchronyChecker checker)
    {
        if (checker.Passed) return null;
        var broken = checker.Violations.Where(static v => v.Guarantee is GroupGuarantee.SendingView or GroupGuarantee.Finalisation or GroupGuarantee.StateTransfer
            || v.Message.Contains("not received", StringComparison.Ordinal) || v.Message.Contains("twice", StringComparison.Ordinal)).ToList();
        return broken.Count == 0 ? null : string.Join('\n', broken);
    }
}
