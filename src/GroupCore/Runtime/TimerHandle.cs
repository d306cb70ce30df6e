namespace GroupCore.Runtime;

/// <summary>Names one timer of one node; <c>default</c> names none.</summary>
public readonly record struct TimerHandle(long Sequence);
