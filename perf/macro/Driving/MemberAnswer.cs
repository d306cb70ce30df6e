namespace Ida.Perf.Macro.Driving;

/// <summary>How a member's answer line begins.</summary>
internal static class MemberAnswer
{
    public const string Done = "@OK ";
    public const string Failed = "@ERR ";
}
