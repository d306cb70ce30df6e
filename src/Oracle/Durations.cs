namespace Oracle;

/// <summary>Durations in the unit of the node's clock.</summary>
internal static class Durations
{
    public const long Millisecond = 1_000_000;
    public const long Second = 1_000 * Millisecond;

    public static long Nanoseconds(this TimeSpan span) => span.Ticks * 100;
}
