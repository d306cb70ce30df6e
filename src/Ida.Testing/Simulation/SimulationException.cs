namespace Ida.Testing;

/// <summary>A simulated run failed; the message says at which seed, step and virtual time, and how to repeat it.</summary>
public class SimulationException : Exception
{
    internal SimulationException(Simulation simulation, string what, Exception? inner = null)
        : base(Describe(simulation, what), inner) => (Seed, Step, Time) = (simulation.Seed, simulation.Steps, simulation.Now);

    /// <summary>The seed of the run.</summary>
    public ulong Seed { get; }

    /// <summary>The step after which it failed.</summary>
    public long Step { get; }

    /// <summary>Virtual time of that step.</summary>
    public TimeSpan Time { get; }

    private static string Describe(Simulation simulation, string what)
    {
        string replay = simulation.Options.ReplayCommand is { } command ? $"{Environment.NewLine}Replay: {command}" : "";
        return $"{what}{Environment.NewLine}Seed {simulation.Seed}, step {simulation.Steps}, virtual time {simulation.Now.TotalMilliseconds:0.######} ms.{replay}";
    }
}
