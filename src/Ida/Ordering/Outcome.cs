using Ida.Kinds;
using Ida.Shared;

namespace Ida.Ordering;

/// <summary>
/// What a logical put did at this shard, with payload, number and view of the attempt that did it. An outcome with few keys and no report
/// needs no object of its own.
/// </summary>
internal readonly record struct Outcome(ulong Sequence, ulong View, uint Attempt, bool Reissued, ulong Payload, PutVersions Versions, PutReport? Report)
{
    private const int OwnBytes = 96, ObjectBytes = 24;

    /// <summary>Memory that the outcome takes in a session.</summary>
    public int Bytes => OwnBytes + (Versions.Count <= PutVersions.Inline ? 0 : ObjectBytes + (8 * Versions.Count)) + (Report?.Bytes ?? 0);

    public ulong VersionAt(int index) => index < Versions.Count ? Versions[index] : 0;

    /// <summary>Whether this attempt was the one executed.</summary>
    public bool IsOf(in AttemptId key) => key.Id.Sequence == Sequence && key.Attempt == Attempt && key.Payload == (Reissued ? Payload : 0);
}
