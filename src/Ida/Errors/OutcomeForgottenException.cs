namespace Ida;

/// <summary>
/// The put may or may not have been executed, and no retry can tell any more. Its session is over; or its caller was told the outcome before; or its outcome was dropped
/// because those of many later puts became unknown; or its id was taken too long before the call, or was released because replicas had no room for outcomes.
/// Reading its keys shows what they hold.
/// </summary>
public sealed class OutcomeForgottenException(OperationId operation, string message) : OutcomeUnknownException(operation, message);
