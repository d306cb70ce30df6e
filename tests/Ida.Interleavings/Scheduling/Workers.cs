namespace Ida.Interleavings.Scheduling;

/// <summary>Threads for lanes, used again by the next schedule.</summary>
internal sealed class Workers
{
    private readonly Stack<Worker> _free = new();

    /// <summary>Given when a schedule is over.</summary>
    public Baton Ended { get; } = new();

    public Worker Rent() => _free.TryPop(out var worker) ? worker : new();

    public void Return(Worker worker) => _free.Push(worker);
}
