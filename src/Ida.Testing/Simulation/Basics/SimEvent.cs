namespace Ida.Testing;

/// <summary>Something that happens at a virtual time (nanoseconds); <paramref name="Argument"/> tells a stale event from a current one.</summary>
internal readonly record struct SimEvent(long Time, long Sequence, object Target, long Argument, SimEventKind Kind);
