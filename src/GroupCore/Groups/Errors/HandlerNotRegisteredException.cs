namespace GroupCore.Groups;

/// <summary>A call names a handler that this member has not registered; all members of a group register the same handlers.</summary>
public sealed class HandlerNotRegisteredException(string group, string handler)
    : ArgumentException($"Group '{group}' has no handler '{handler}': register it when joining, at every member.")
{
    /// <summary>Name of the handler.</summary>
    public string Handler { get; } = handler;
}
