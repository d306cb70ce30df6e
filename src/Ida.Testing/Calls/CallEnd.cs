namespace Ida.Testing.Calls;

/// <summary>What held at the moment at which a call ended. A later look would find another time, another life, or a token that was cancelled since.</summary>
/// <param name="At">When it ended, by the ledger's time.</param>
/// <param name="Took">How long it took, by the clock of its caller.</param>
/// <param name="Passed">How much time passed meanwhile, including the time for which its caller was held up.</param>
/// <param name="Life">What had become of its caller.</param>
/// <param name="WasCancelled">Whether its token was cancelled.</param>
internal sealed record CallEnd(TimeSpan At, TimeSpan Took, TimeSpan Passed, CallerLife Life, bool WasCancelled);
