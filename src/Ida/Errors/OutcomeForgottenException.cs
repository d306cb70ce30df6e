namespace Ida;

/// <summary>
/// The put may or may not have been executed, and no retry can tell any more: its session is over, its caller was told the outcome
/// before, or so many later puts became unknown that its outcome was dropped. Reading its keys shows what they hold.
/// </summary>
public sealed class OutcomeForgottenException(OperationId operation, string message) : OutcomeUnknownException(operation, message);
