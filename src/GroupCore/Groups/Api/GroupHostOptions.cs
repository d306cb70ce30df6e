using GroupCore.Wire;

namespace GroupCore.Groups;

/// <summary>Options of the groups of one process.</summary>
public sealed record GroupHostOptions
{
    /// <summary>Writes and reads users' messages; the same kind at every member. Default MessagePack.</summary>
    public IPayloadSerializer Serializer { get; init; } = ContractSerializer.Instance;

    /// <summary>Short text that travels with this process into every view.</summary>
    public string Tag { get; init; } = "";

    /// <summary>Largest checkpoint a joiner accepts, in bytes; default 1 GB.</summary>
    public long MaxCheckpointBytes { get; init; } = 1L << 30;

    /// <summary>
    /// What a joiner holds of the group's messages while it loads the state, in bytes, of which each message counts at least 1 KB; 4 MiB to 16 GiB,
    /// default 64 MiB. Beyond it the others' calls wait for the load. It comes on top of the state itself.
    /// </summary>
    public long MaxJoinBacklogBytes { get; init; } = 64L << 20;

    /// <summary>For how long a join may make no progress before it is undone; 1 s to 24 h, default 60 s. A state that is being saved or sent is progress, however large.</summary>
    public TimeSpan JoinTimeout { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>For how long <see cref="Group.DisposeAsync"/> waits for the others, and then for this member's handlers; 0 to 1 h each, default 2 s.</summary>
    public TimeSpan DisposeTimeout { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary><see cref="GroupLimits.ViewRecords"/>; less only in tests.</summary>
    internal uint ViewRecords { get; init; } = GroupLimits.ViewRecords;
}
