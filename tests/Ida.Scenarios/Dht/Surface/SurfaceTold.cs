namespace Ida.Scenarios;

/// <summary>What a call told of its put: each way of the public surface tells something else.</summary>
/// <param name="IsApplied">Whether it was applied, as far as versions were expected of it.</param>
/// <param name="Id">Its id; null where the call does not tell it.</param>
/// <param name="Versions">The versions of its keys; empty where the call does not tell them.</param>
internal sealed record SurfaceTold(bool IsApplied, OperationId? Id, PutVersions Versions)
{
    /// <summary>What the list held before its element was appended; null where the call does not tell it.</summary>
    public long[]? Before { get; init; }

    /// <summary>A resolver threw.</summary>
    public bool Failed { get; init; }

    /// <summary>The key that was to be removed had no value.</summary>
    public bool WasAbsent { get; init; }

    // That it is executed, and no more.
    private bool SaysLittle => Id is not null && Versions.Count == 0 && !Failed;

    /// <summary>Whether another call of the put may have been told that.</summary>
    public bool Agrees(SurfaceTold other) => IsApplied == other.IsApplied && (Failed == other.Failed || SaysLittle || other.SaysLittle)
        && (Versions.Count == 0 || other.Versions.Count == 0 || Versions == other.Versions) && (Before is null || other.Before is null || Before.AsSpan().SequenceEqual(other.Before));

    public static async Task<SurfaceTold> Of(ValueTask<PutResult> call)
    {
        var result = await call;
        return new(result.IsApplied, result.Operation, result.Versions);
    }
}
