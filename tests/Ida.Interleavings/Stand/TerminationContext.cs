namespace GroupCore.Groups;

/// <summary>Stands in for the real one.</summary>
internal sealed class TerminationContext;
