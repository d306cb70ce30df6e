using System.Runtime.CompilerServices;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Seams;

/// <summary>Points of the schedule, between the statements of the code that is looked at and wherever else the weaver or a scenario puts one. Outside of schedules they do nothing.</summary>
internal static class Explored
{
    public static void Point(string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        if (Lane.Current is { } lane) lane.Schedule.Point(lane, new(what, file, line));
    }

    /// <summary>A point after which the others see all that this thread wrote.</summary>
    public static void Fence(string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        if (Lane.Current is not { } lane) return;
        lane.Schedule.Point(lane, new(what, file, line));
        lane.Schedule.Settle(lane);
    }

    /// <summary>The others see all that this thread wrote; no point.</summary>
    public static void Settle()
    {
        if (Lane.Current is { } lane) lane.Schedule.Settle(lane);
    }

    /// <summary>A thread looks for something to do and finds nothing.</summary>
    public static void Yield(string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        if (Lane.Current is { } lane) lane.Schedule.Yield(lane, new(what, file, line));
    }

    /// <summary>Waits for a condition; false when the time passed first.</summary>
    public static bool Wait(Func<bool> until, long nanoseconds = long.MaxValue, string what = "", [CallerFilePath] string file = "", [CallerLineNumber] int line = 0) =>
        Lane.Current is { } lane ? lane.Schedule.Wait(lane, new(what, file, line), until, nanoseconds) : until();

    /// <summary>What a class of seams keeps for the schedule of this thread.</summary>
    public static T Of<T>(object key) where T : class, new()
    {
        var things = Lane.Current!.Schedule.Things;
        if (!things.TryGetValue(key, out object? found)) things[key] = found = new T();
        return (T)found;
    }
}
