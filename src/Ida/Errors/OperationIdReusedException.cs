namespace Ida;

/// <summary>
/// A put was given the id of another put (<see cref="PutOptions.Operation"/>), which has other pairs and was executed or is under way. The new put was
/// not executed and, under this id, will not be while the other put is remembered.
/// </summary>
public sealed class OperationIdReusedException(OperationId operation)
    : DhtMisuseException($"Operation {operation} is another put, with other keys, values or merges. Nothing of this one was executed; only the same pairs may be put again under its id.")
{
    /// <summary>The id that both puts were given.</summary>
    public OperationId Operation { get; } = operation;
}
