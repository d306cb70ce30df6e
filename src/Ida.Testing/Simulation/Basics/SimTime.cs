namespace Ida.Testing;

/// <summary>Virtual time in nanoseconds.</summary>
internal static class SimTime
{
    public static long Nanoseconds(TimeSpan time) => time.Ticks * 100;
}
