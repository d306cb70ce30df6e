namespace Ida;

/// <summary>
/// The put may take effect or may have taken effect. Putting the same pairs again under <see cref="Operation"/>, at any member, tells which, and
/// applies them at most once. That works while the member that issued the put is there, which remembers the last 65,536 such outcomes
/// (16 MiB at most), and afterwards for puts that were under way; otherwise a retry gets <see cref="OutcomeForgottenException"/>.
/// </summary>
public class OutcomeUnknownException(OperationId operation, string message, Exception? inner = null) : DhtOutcomeException(message, inner)
{
    /// <summary>Names the put, for <see cref="PutOptions.Operation"/>.</summary>
    public OperationId Operation { get; } = operation;
}
