using GroupCore.Groups;
using Oracle.State;

namespace Oracle;

/// <summary>Bounds of the Oracle's state; chosen so that the largest view fits one frame of 1 MB with the longest texts.</summary>
internal static class Limits
{
    public const int NameBytes = GroupLimits.NameBytes;
    public const int TagBytes = 64;
    public const int AddressBytes = 128;
    public const int ReasonBytes = 512;
    public const int GroupMembers = GroupLimits.Members;
    public const int GroupQueue = GroupLimits.Members;
    public const int Groups = 65_536;
    public const int GroupsPerProcess = GroupLimits.GroupsPerProcess;
    public const int Processes = 16_384;
    public const int Replicas = 16;

    /// <summary>Longest lease in ns, as for the option: other members may wait that long for a process that is silent.</summary>
    public const long LeaseLength = 600 * Durations.Second;

    public const int OperationsPerEntry = 512;

    /// <summary>Most bytes of the Oracle's state that a replica takes from a leader.</summary>
    public const int SnapshotBytes = 1 << 30;

    /// <summary>
    /// At this size of the state (<see cref="OracleState.Bytes"/>) no group is founded or joined any more. The room above it is for processes and results of requests, which
    /// are not refused. If the state grew so large that no replica took it, a voter that dies could have no successor.
    /// </summary>
    public const long StateBytes = SnapshotBytes - (128 << 20);

    /// <summary>Half of that room is for results; the other half is for the processes, and the oldest request of each.</summary>
    public const long ResultBytes = 64 << 20;

    /// <summary>Requests of one process that may wait for an answer, and results kept for it besides that of its oldest waiting request.</summary>
    public const int RequestsPerProcess = 1_024;

    /// <summary>How many of a group's latest installs are kept, for members that missed them.</summary>
    public const int InstallsKept = 8;

    /// <summary>Number of remembered node ids of past lives, which may not register again.</summary>
    public const int PastLives = 4_096;
}
