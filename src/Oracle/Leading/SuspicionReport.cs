using GroupCore.Membership;

namespace Oracle.Leading;

/// <summary>One process's suspicion of another, and when it was last told to this leader, and since when it has stood without a break.</summary>
internal readonly record struct SuspicionReport(Suspicion Evidence, int Health, long At, long Since);
