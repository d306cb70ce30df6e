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

    /// <summary>For how long a join may make no progress before it is undone; 1 s to 24 h, default 60 s. A state that is being saved or sent is progress, however large.</summary>
    public TimeSpan JoinTimeout { get; init; } = TimeSpan.FromSeconds(60);
}
