namespace GroupCore.Groups;

/// <summary>A member answered a query with an error.</summary>
public sealed class QueryAbortedException(string handler, string member, string error)
    : InvalidOperationException($"{member} could not answer '{handler}': {error}");
