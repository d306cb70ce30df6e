namespace Ida.Interleavings.Scheduling;

/// <summary>A thread that lanes run on, one after the other.</summary>
internal sealed class Worker
{
    private static readonly int s_core = Thread.GetCurrentProcessorId();
    private Lane? _lane;

    public Worker()
    {
        new Thread(Run) { IsBackground = true, Name = "lane" }.UnsafeStart();
    }

    public Baton Baton { get; } = new();

    /// <summary>The worker begins with this lane the next time that it has the baton.</summary>
    public void Assign(Lane lane) => _lane = lane;

    private void Run()
    {
        Baton.StayOn(s_core);
        while (true)
        {
            Baton.Take();
            _lane!.Run();
        }
    }
}
