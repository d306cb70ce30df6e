namespace Ida.Kinds;

/// <summary>
/// What a shard tells of a put besides the versions of its keys. Most puts are applied and have nothing more to tell: they need no report.
/// </summary>
/// <param name="Verdict">Whether it was applied.</param>
/// <param name="Culprit">The key that kept it from being applied, as an index into the shard's part.</param>
/// <param name="Error">What the resolver threw, if one did.</param>
/// <param name="Value">The value that is stored now, where the put merges one key; null if the entry is gone.</param>
internal sealed record PutReport(Verdict Verdict, int Culprit, string? Error, byte[]? Value)
{
    private const int ObjectBytes = 48;

    /// <summary>Memory that it keeps alive.</summary>
    public int Bytes => ObjectBytes + (2 * (Error?.Length ?? 0)) + (Value?.Length ?? 0);

    public static bool IsApplied(PutReport? report) => report is null or { Verdict: Verdict.Applied };
}
