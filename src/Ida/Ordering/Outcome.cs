namespace Ida.Ordering;

/// <summary>
/// What a logical put did at this shard, with payload, number and view of the attempt that did it. An outcome with few keys and no error
/// needs no object of its own.
/// </summary>
internal readonly record struct Outcome(ulong Sequence, ulong View, uint Attempt, bool Reissued, ulong Payload, PutVersions Versions, string?[]? Errors)
{
    private const int OwnBytes = 96, ObjectBytes = 24;

    /// <summary>Memory that the outcome takes in a session.</summary>
    public int Bytes => Versions.Count <= PutVersions.Inline && Errors is null ? OwnBytes : OwnBytes + LargeBytes();

    public ulong VersionAt(int index) => index < Versions.Count ? Versions[index] : 0;

    public string? ErrorAt(int index) => Errors is { } all && index < all.Length ? all[index] : null;

    private int LargeBytes()
    {
        int bytes = Versions.Count <= PutVersions.Inline ? 0 : ObjectBytes + (8 * Versions.Count);
        if (Errors is null) return bytes;
        bytes += ObjectBytes + (8 * Errors.Length);
        foreach (string? error in Errors)
            if (error is not null) bytes += ObjectBytes + (2 * error.Length);
        return bytes;
    }

    /// <summary>Whether this attempt was the one executed.</summary>
    public bool IsOf(in AttemptId key) => key.Id.Sequence == Sequence && key.Attempt == Attempt && key.Payload == (Reissued ? Payload : 0);
}
