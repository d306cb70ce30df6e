using System.Diagnostics;

namespace Ida.Tests.Shared;

/// <summary>An activity listener of a careless program: wherever it is called it does something first, such as throwing, or keeping its thread.</summary>
internal static class UnrulyListener
{
    /// <summary>Listens to all calls of this process.</summary>
    public static ActivityListener Begin(Action first)
    {
        var listener = new ActivityListener
        {
            ShouldListenTo = static source => source.Name is "Ida" or "Ida.GroupCore",
            Sample = (ref ActivityCreationOptions<ActivityContext> _) =>
            {
                first();
                return ActivitySamplingResult.AllData;
            },
            ActivityStarted = _ => first(),
            ActivityStopped = _ => first(),
        };
        ActivitySource.AddActivityListener(listener);
        return listener;
    }
}
