namespace Ida.Testing.Workload;

/// <summary>
/// One atomic write of a <see cref="HistoryClient"/>, with the names of its records. With it, any client can ask again for the write's outcome, under the same operation id, at
/// any member and from any process. It can be passed on as JSON.
/// </summary>
public sealed record HistoryWrite
{
    /// <summary>The record of the appends; null without any.</summary>
    public string? AppendOp { get; init; }

    /// <summary>The record of the puts and removes; null without any.</summary>
    public string? PutOp { get; init; }

    /// <summary>The record of what a conditional put finds; null without a condition.</summary>
    public string? FoundOp { get; init; }

    /// <summary>The record of what a conditional put finds instead of what it expects; null without a condition.</summary>
    public string? UnmetOp { get; init; }

    /// <summary>The client that wrote.</summary>
    public required string Client { get; init; }

    /// <summary>What is appended, or the mark of the values that are put.</summary>
    public required string Element { get; init; }

    /// <summary>Lists that get the element.</summary>
    public IReadOnlyList<string> Appends { get; init; } = [];

    /// <summary>Keys that are overwritten.</summary>
    public IReadOnlyList<string> Puts { get; init; } = [];

    /// <summary>The version that the one overwritten key must have, 0 for absence; null without a condition.</summary>
    public ulong? Expected { get; init; }

    /// <summary>The mark of the value that the key had with that version; null for absence.</summary>
    public string? ExpectedMark { get; init; }

    /// <summary>Keys that are removed.</summary>
    public IReadOnlyList<string> Removes { get; init; } = [];

    /// <summary>Length of the filling behind each value, in characters.</summary>
    public int Filling { get; init; }

    /// <summary>The operation id; known once a call has told it.</summary>
    public OperationId? Operation { get; init; }

    /// <summary>What it was promised.</summary>
    public ConsistencyLevel Level { get; init; }
}
