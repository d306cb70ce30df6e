namespace GroupCore.Runtime;

/// <summary>Names one timer of one node; <c>default</c> names none.</summary>
internal readonly record struct TimerHandle(long Sequence);
