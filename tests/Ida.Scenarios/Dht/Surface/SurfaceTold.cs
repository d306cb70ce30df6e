namespace Ida.Scenarios;

/// <summary>What a call told of its put; each kind of call tells something else.</summary>
/// <param name="IsApplied">Whether it was applied; false only if an expected version was not met.</param>
/// <param name="Id">Its id; null where the call does not tell it.</param>
/// <param name="Versions">The versions of its keys; empty where the call does not tell them.</param>
internal sealed record SurfaceTold(bool IsApplied, OperationId? Id, PutVersions Versions)
{
    /// <summary>What the list held before its element was appended; null where the call does not tell it.</summary>
    public long[]? Before { get; init; }

    /// <summary>A resolver threw.</summary>
    public bool Failed { get; init; }

    /// <summary>Whether the key that was to be removed had a value; null where the call does not tell it.</summary>
    public bool? WasThere { get; init; }

    // Whether it tells that the put is executed, and no more.
    private bool SaysLittle => Id is not null && Versions.Count == 0 && !Failed;

    // A removed key that had no value has no version. Only of a removed key is it told whether it was there.
    private bool? SaysThere(bool removes) => WasThere ?? (removes && Versions.Count == 1 ? Versions[0] != 0 : null);

    /// <summary>Whether another call of the same put may have been told the other answer.</summary>
    public bool Agrees(SurfaceTold other)
    {
        bool removes = WasThere is not null || other.WasThere is not null;
        return IsApplied == other.IsApplied && (Failed == other.Failed || SaysLittle || other.SaysLittle)
            && (SaysThere(removes) is not { } one || other.SaysThere(removes) is not { } two || one == two)
            && (Versions.Count == 0 || other.Versions.Count == 0 || Versions == other.Versions) && (Before is null || other.Before is null || Before.AsSpan().SequenceEqual(other.Before));
    }

    public static async Task<SurfaceTold> Of(ValueTask<PutResult> call)
    {
        var result = await call;
        return new(result.IsApplied, result.Operation, result.Versions);
    }
}
