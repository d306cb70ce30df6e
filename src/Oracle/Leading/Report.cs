using GroupCore.Membership;

namespace Oracle.Leading;

/// <summary>One process's report against another: when last made, and since when without a break.</summary>
internal readonly record struct Report(Accusation Evidence, int Health, long At, long Since);
