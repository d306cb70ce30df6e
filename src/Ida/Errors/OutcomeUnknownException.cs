namespace Ida;

/// <summary>
/// The put may have taken effect, or may still do so. Putting the same pairs again under <see cref="Operation"/>, at any member, tells which, and
/// applies them at most once. That works as long as the member that issued the put is a member; it remembers the last 65,536 such outcomes
/// (16 MiB at most). Afterwards it works for puts that were under way; otherwise a retry gets <see cref="OutcomeForgottenException"/>.
/// </summary>
public class OutcomeUnknownException(OperationId operation, string message, Exception? inner = null) : DhtOutcomeException(message, inner)
{
    /// <summary>Names the put, for <see cref="PutOptions.Operation"/>.</summary>
    public OperationId Operation { get; } = operation;
}
