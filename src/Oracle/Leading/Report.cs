using GroupCore.Membership;

namespace Oracle.Leading;

/// <summary>What one process says against another: when last, and since when without a break.</summary>
internal readonly record struct Report(Accusation Evidence, int Health, long At, long Since);
