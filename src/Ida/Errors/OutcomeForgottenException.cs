namespace Ida;

/// <summary>
/// The put may or may not have been executed, and no retry can tell any more: its session is over, its outcome was told to its caller
/// before, or so many others became unknown since that it was let go. Reading its keys shows what they hold.
/// </summary>
public sealed class OutcomeForgottenException(OpId operation, string message) : OutcomeUnknownException(operation, message);
