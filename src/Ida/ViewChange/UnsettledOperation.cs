using Ida.Shared;

namespace Ida.ViewChange;

/// <summary>A put as one survivor holds it. <paramref name="Time"/> 0: no commit is known.</summary>
internal readonly record struct UnsettledOperation(AttemptId Key, ulong Proposed, ulong Time, ushort[] Participants);
