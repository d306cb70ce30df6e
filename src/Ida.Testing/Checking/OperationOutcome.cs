namespace Ida.Testing.Checking;

/// <summary>How an operation ended.</summary>
public enum OperationOutcome
{
    /// <summary>Unknown, or without a completion: it may have been applied.</summary>
    Info,

    /// <summary>Completed.</summary>
    Ok,

    /// <summary>Certainly not applied.</summary>
    Fail,
}
