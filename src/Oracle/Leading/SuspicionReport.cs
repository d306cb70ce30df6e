using GroupCore.Membership;

namespace Oracle.Leading;

/// <summary>One process's suspicion of another, with the time when this leader was last told of it, and the time since when it has held without a break.</summary>
internal readonly record struct SuspicionReport(Suspicion Evidence, int Health, long At, long Since);
