namespace GroupCore.Groups;

/// <summary>Stands for the real one.</summary>
internal sealed class TerminationContext;
