namespace Ida;

/// <summary>The put may take effect or may have taken effect. Putting the same pairs again under <see cref="Operation"/> tells, and applies them at most once.</summary>
public sealed class OutcomeUnknownException(OpId operation, string message, Exception? inner = null) : DhtException(message, inner)
{
    /// <summary>Names the put, for <see cref="PutOptions.Operation"/>.</summary>
    public OpId Operation { get; } = operation;
}
