using Ida.Kinds;
using Ida.Wire;

namespace Ida.Coordination;

/// <summary>The end of a put whose caller had been told that its outcome is unknown.</summary>
/// <param name="Payload">The payload of its pairs and their places.</param>
/// <param name="Status">It was executed; or another put, with other pairs, was executed under its id; or a hash, or a member that lacks its map, kept this member's attempts from execution.</param>
/// <param name="Versions">The versions that its keys got, in the order of its parts; empty where they are not known.</param>
/// <param name="Reports">What shards tell of it, at the first part of each shard; null if they tell nothing.</param>
internal sealed record KnownEnd(ulong Payload, EndStatus Status, PutVersions Versions, PutReport?[]? Reports)
{
    public bool Executed => Status == EndStatus.Executed;

    /// <summary>Its memory, roughly, with its places in tables.</summary>
    public long Bytes
    {
        get
        {
            long sum = 200 + (Versions.Count > PutVersions.Inline ? 8 * Versions.Count : 0);
            foreach (var report in Reports ?? []) sum += 8 + (report?.Bytes ?? 0);
            return sum;
        }
    }

    public PutReport? ReportAt(int part) => Reports?[part];
}
