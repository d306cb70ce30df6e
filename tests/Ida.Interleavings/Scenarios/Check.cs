using System.Runtime.CompilerServices;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>What a scenario claims.</summary>
internal static class Check
{
    public static void That(Schedule schedule, bool holds, string otherwise)
    {
        if (!holds) schedule.Fail(otherwise);
    }

    public static void Equal<T>(Schedule schedule, T expected, T actual, [CallerArgumentExpression(nameof(actual))] string what = "")
    {
        if (!EqualityComparer<T>.Default.Equals(expected, actual)) schedule.Fail($"{what} is {actual}, not {expected}");
    }
}
