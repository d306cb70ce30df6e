namespace Ida.Scenarios;

/// <summary>
/// What a batch of frames of a member that lies came to: <paramref name="Failure"/> is null when all held that must; <paramref name="Went"/>: all honest
/// members went on before the liar was stopped; <paramref name="Excluded"/> is how many of them it had excluded.
/// </summary>
internal sealed record MemberResult(string? Failure, bool Went, int Excluded);
