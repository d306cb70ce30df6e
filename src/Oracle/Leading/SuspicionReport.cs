using GroupCore.Membership;

namespace Oracle.Leading;

/// <summary>One process's suspicion of another: when last told, and since when without a break.</summary>
internal readonly record struct SuspicionReport(Suspicion Evidence, int Health, long At, long Since);
