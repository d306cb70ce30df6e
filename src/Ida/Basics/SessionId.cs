using GroupCore.Membership;

namespace Ida;

/// <summary>Names of the DHT sessions of members.</summary>
internal static class SessionId
{
    /// <summary>
    /// A member's session id. No two processes share an incarnation, and no process chooses its own, so no process can have another's session.
    /// The number distinguishes the sessions of one process, which may enable the DHT again.
    /// </summary>
    public static UInt128 Of(ProcessId member, ulong number) => new(member.Incarnation, number);
}
