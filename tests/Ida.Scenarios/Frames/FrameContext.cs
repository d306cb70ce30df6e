using GroupCore.Membership;
using Oracle;
using Oracle.Raft;

namespace Ida.Scenarios;

/// <summary>
/// What an attacker knows of the system: who is in it and where, its name, the group and its view. None of this is secret: any node that
/// dials in is told.
/// </summary>
internal sealed record FrameContext(SystemId System, Configuration Replicas, Replica Leader, GroupId Group, ulong View,
    IReadOnlyList<Replica> Nodes, IReadOnlyList<ProcessId> Processes)
{
    /// <summary>Index of the node that has left; the honest ones come before it.</summary>
    public const int Former = 3;
}
