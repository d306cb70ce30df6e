using GroupCore.Groups;

namespace Oracle.State;

/// <summary>Bounds of what the Oracle keeps; chosen so that the largest view fits one frame of 1 MB with the longest texts.</summary>
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

    /// <summary>Longest lease in ns, like the option: for so long the others wait for a process that is silent.</summary>
    public const long LeaseLength = 600 * Durations.Second;

    public const int OperationsPerEntry = 512;

    /// <summary>State of the Oracle in bytes, as a voter accepts it from a leader.</summary>
    public const int SnapshotBytes = 1 << 30;

    /// <summary>
    /// Bytes of the state with which no group is founded or joined any more (<see cref="OracleState.Bytes"/>): what is not refused, processes and results of requests, has
    /// room beside them. A state that no replica can be given would leave each voter that dies without a successor.
    /// </summary>
    public const long StateBytes = SnapshotBytes - (128 << 20);

    /// <summary>Half of that room: the other half is for the processes, and the oldest request of each.</summary>
    public const long ResultBytes = 64 << 20;

    /// <summary>Requests of one process that may wait for an answer, and results that are kept for it beside that of the oldest that waits.</summary>
    public const int RequestsPerProcess = 1_024;

    /// <summary>Installs of a group that are remembered for members that missed them.</summary>
    public const int InstallsKept = 8;

    /// <summary>Node ids of past lives that may not register again.</summary>
    public const int PastLives = 4_096;
}
