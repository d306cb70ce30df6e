namespace Ida.Testing;

/// <summary>An invariant did not hold after a step of a simulation.</summary>
public sealed class InvariantViolatedException : SimulationException
{
    internal InvariantViolatedException(Simulation simulation, string invariant, string violation)
        : base(simulation, $"Invariant '{invariant}' violated: {violation}") => (Invariant, Violation) = (invariant, violation);

    /// <summary>The name it was added under.</summary>
    public string Invariant { get; }

    /// <summary>What its check said.</summary>
    public string Violation { get; }
}
