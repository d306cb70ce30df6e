using GroupCore.Wire;

namespace GroupCore.Groups;

/// <summary>Options of the groups of one process.</summary>
public sealed record GroupHostOptions
{
    /// <summary>Writes and reads users' messages; use the same kind at every member. Default MessagePack.</summary>
    public IPayloadSerializer Serializer { get; init; } = ContractSerializer.Instance;

    /// <summary>Short text that travels with this process into every view.</summary>
    public string Tag { get; init; } = "";

    /// <summary>
    /// Largest checkpoint that this process saves for joiners, and that it accepts as a joiner, in bytes;
    /// 1 MiB to 2,147,483,591, the most that an array holds; default 1 GiB.
    /// </summary>
    public long MaxCheckpointBytes { get; init; } = 1L << 30;

    /// <summary>
    /// Most bytes of the group's messages that a joiner holds while it loads the state; each message counts at least 1 KB. 4 MiB to 16 GiB, default
    /// 64 MiB. Beyond that the others' calls wait until the state is loaded. The memory for the state itself comes on top.
    /// </summary>
    public long MaxJoinBacklogBytes { get; init; } = 64L << 20;

    /// <summary>
    /// How long a join may go without progress before it is undone; 1 s to 24 h, default 60 s. Saving (<see cref="SaveTimeout"/>) and sending the state count as
    /// progress, however large the state is. Work that a new view forces to start over counts as progress for as long as it took before. The giver tells a joiner of its
    /// progress once a second, so a joiner that waits for the state has 1 s more.
    /// </summary>
    public TimeSpan JoinTimeout { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>
    /// How long user code that saves the state for joiners may write nothing before it is given up; 1 s to 24 h, default 60 s. Those joins are then
    /// refused, this member stays, and what the code writes later is dropped. The code may take any time as long as it keeps writing.
    /// </summary>
    public TimeSpan SaveTimeout { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>How long <see cref="Group.DisposeAsync"/>, or a cancelled join, waits for the others, and then for this member's handlers; 0 to 1 h each, default 2 s.</summary>
    public TimeSpan DisposeTimeout { get; init; } = TimeSpan.FromSeconds(2);

    /// <summary>
    /// The layers that may be attached to groups of this process (<c>Group.AttachLayerAsync</c>), each with its name and frame types; at most 4, including
    /// the DHT's, which the node adds. Default none.
    /// </summary>
    internal IReadOnlyList<LayerFrames> Layers { get; init; } = [];

    /// <summary><see cref="GroupLimits.ViewRecords"/>; less only in tests.</summary>
    internal uint ViewRecords { get; init; } = GroupLimits.ViewRecords;

    /// <summary><see cref="GroupLimits.HandlerBacklogBytes"/>; less only in tests.</summary>
    internal long HandlerBacklogBytes { get; init; } = GroupLimits.HandlerBacklogBytes;

    /// <summary>Throws an <see cref="ArgumentException"/> that names the option and what is allowed.</summary>
    internal static void Validate(GroupHostOptions options)
    {
        if (options.Serializer is null || options.Tag is null)
            throw new ArgumentException($"{(options.Tag is null ? "Tag" : "Serializer")} must not be null; leave it out to get the default.", nameof(options));
        if (options.Layers is null || options.Layers.Any(static layer => layer is null)) throw new ArgumentException("Layers and its elements must not be null; leave Layers out to declare none.", nameof(options));
        _ = new LayerTable(options.Layers);
        if (options.JoinTimeout < TimeSpan.FromSeconds(1) || options.JoinTimeout > TimeSpan.FromHours(24))
            throw new ArgumentException($"JoinTimeout is {options.JoinTimeout}; allowed are 1 s to 24 h.", nameof(options));
        if (options.SaveTimeout < TimeSpan.FromSeconds(1) || options.SaveTimeout > TimeSpan.FromHours(24))
            throw new ArgumentException($"SaveTimeout is {options.SaveTimeout}; allowed are 1 s to 24 h.", nameof(options));
        if (options.DisposeTimeout < TimeSpan.Zero || options.DisposeTimeout > TimeSpan.FromHours(1))
            throw new ArgumentException($"DisposeTimeout is {options.DisposeTimeout}; allowed are 0 to 1 h.", nameof(options));
        if (options.MaxCheckpointBytes < 1L << 20 || options.MaxCheckpointBytes > Array.MaxLength)
            throw new ArgumentException($"MaxCheckpointBytes is {options.MaxCheckpointBytes}; allowed are 1 MiB to {Array.MaxLength} bytes.", nameof(options));
        if (options.MaxJoinBacklogBytes is < GroupLimits.Window or > 16L << 30)
            throw new ArgumentException($"MaxJoinBacklogBytes is {options.MaxJoinBacklogBytes}; allowed are 4 MiB to 16 GiB.", nameof(options));
    }
}
