namespace Ida.Scenarios;

/// <summary>
/// How a batch of frames of a member that lies ended. <paramref name="Failure"/> is null if all held that must hold; <paramref name="Went"/> tells whether all honest
/// members went on before the liar was stopped, and <paramref name="Excluded"/> how many of them had been excluded.
/// </summary>
internal sealed record MemberResult(string? Failure, bool Went, int Excluded);
