namespace Ida;

/// <summary>
/// The put may or may not have been executed, and no retry can tell any more: its session is over, its caller was told the outcome
/// before, so many later puts became unknown that its outcome was dropped, or its id was taken too long before the call, or kept outcomes for which there was no room.
/// Reading its keys shows what they hold.
/// </summary>
public sealed class OutcomeForgottenException(OperationId operation, string message) : OutcomeUnknownException(operation, message);
