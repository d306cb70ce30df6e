using Ida.Wire;

namespace Ida.Coordination;

/// <summary>How a put ended whose caller had been told that its outcome is unknown.</summary>
/// <param name="Payload">Of its pairs and their places.</param>
/// <param name="Status">Executed; or another put, with other pairs, was executed under its id; or a hash refused the own attempts at it.</param>
/// <param name="Versions">What its keys got, in the order of its parts; none where that is not known.</param>
/// <param name="Errors">Of resolvers, for the same parts; null without any.</param>
internal sealed record KnownEnd(ulong Payload, EndStatus Status, PutVersions Versions, string?[]? Errors)
{
    public bool Executed => Status == EndStatus.Executed;

    /// <summary>What it takes, roughly, with its places in tables.</summary>
    public long Bytes
    {
        get
        {
            long sum = 200 + (Versions.Count > PutVersions.Inline ? 8 * Versions.Count : 0);
            foreach (string? error in Errors ?? []) sum += 8 + 2 * (error?.Length ?? 0);
            return sum;
        }
    }
}
