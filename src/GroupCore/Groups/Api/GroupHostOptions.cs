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
}
