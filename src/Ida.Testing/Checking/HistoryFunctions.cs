namespace Ida.Testing.Checking;

/// <summary>Kinds of operations that the checkers know; others are ignored.</summary>
public static class HistoryFunctions
{
    /// <summary>Atomic append of a unique element to the list of each key.</summary>
    public const string Append = "append";

    /// <summary>Atomic overwrite of each key with a value unique for the key.</summary>
    public const string Put = "put";

    /// <summary>Atomic read of all keys.</summary>
    public const string Get = "get";

    /// <summary>Reads and writes as one transaction.</summary>
    public const string Transaction = "txn";

    /// <summary>Atomic removal of all keys.</summary>
    public const string Delete = "delete";
}
