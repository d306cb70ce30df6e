using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>Threads that work on some classes of the runtime, and what has to hold.</summary>
internal abstract class Scenario
{
    public abstract string Name { get; }

    /// <summary>What has to hold, in a sentence.</summary>
    public abstract string Rule { get; }

    /// <summary>The rules of Controls.txt without which it fails.</summary>
    public IEnumerable<Control> Controls => Omitted.All.Where(control => control.Scenario == Name);

    /// <summary>What schedules have to reach, or the scenario misses its purpose.</summary>
    public IEnumerable<string> Reaches => Reached.Of(Name).Concat(Own);

    /// <summary>Those of them that the scenario itself notes.</summary>
    protected virtual IEnumerable<string> Own => [];

    /// <summary>Whether all schedules with a few preemptions can be run.</summary>
    public virtual bool IsSmall => false;

    /// <summary>Starts the threads; the action that it returns is called when they have ended.</summary>
    public abstract Action Begin(Schedule schedule);
}
