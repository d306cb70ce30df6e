namespace Ida;

/// <summary>A resolver failed for one pair of a put: its entry was left unchanged, at all replicas alike.</summary>
/// <param name="Index">Which pair, in the order of the call.</param>
/// <param name="Message">What the resolver threw.</param>
public sealed record PutError(int Index, string Message);
