namespace Ida.Chaos.Members;

/// <summary>Does something ten times a second on a thread of its own, which waits neither for the pool nor for the member's reports.</summary>
internal sealed class Ticker : IDisposable
{
    private static readonly TimeSpan s_every = TimeSpan.FromMilliseconds(100);
    private readonly ManualResetEventSlim _over = new();
    private readonly Thread _thread;

    public Ticker(Action tick)
    {
        _thread = new(() =>
        {
            while (!_over.Wait(s_every)) tick();
        })
        { IsBackground = true, Name = "ticks" };
        _thread.Start();
    }

    public void Dispose()
    {
        _over.Set();
        _thread.Join();
        _over.Dispose();
    }
}
