namespace Ida.Testing.Calls;

/// <summary>What held at the moment at which a call ended: whoever looks later finds another time, another life, a token that was cancelled since.</summary>
/// <param name="At">When, by the ledger.</param>
/// <param name="Took">How long it took, by the clock of its caller.</param>
/// <param name="Passed">How much time passed meanwhile, also where its caller was held up.</param>
/// <param name="Life">What had become of its caller.</param>
/// <param name="WasCancelled">Whether its token was cancelled.</param>
internal sealed record CallEnd(TimeSpan At, TimeSpan Took, TimeSpan Passed, CallerLife Life, bool WasCancelled);
