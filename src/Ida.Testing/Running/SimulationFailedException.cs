namespace Ida.Testing;

/// <summary>A seed failed. The message names it, the command that repeats it, and the smallest fault schedule found that still fails.</summary>
public sealed class SimulationFailedException : Exception
{
    internal SimulationFailedException(string message, ulong seed, FaultSchedule? shrunk, Exception inner)
        : base(message, inner) => (Seed, Shrunk) = (seed, shrunk);

    /// <summary>The seed that failed.</summary>
    public ulong Seed { get; }

    /// <summary>The smallest schedule found that fails alike; null when the test drew none.</summary>
    public FaultSchedule? Shrunk { get; }
}
