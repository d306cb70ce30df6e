namespace Ida.Testing;

/// <summary>Where the asynchronous code of a test resumes: on the simulation's thread, between steps, in order.</summary>
internal sealed class SimContext(Simulation simulation) : SynchronizationContext
{
    public override void Post(SendOrPostCallback d, object? state)
    {
        if (simulation.OnOwnThread("A continuation")) simulation.Enqueue(d, state);
    }

    public override void Send(SendOrPostCallback d, object? state) => d(state);

    public override SynchronizationContext CreateCopy() => this;
}
