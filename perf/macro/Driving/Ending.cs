using System.Runtime.InteropServices;

namespace Ida.Perf.Macro.Driving;

/// <summary>Ends the run early, after a signal or a timeout: first kills the members, by their ids. Only the first thread that claims the end carries it out.</summary>
internal sealed class Ending : IDisposable
{
    private readonly Cluster _cluster;
    private readonly PosixSignalRegistration[] _signals;
    private int _claimed;

    public Ending(Cluster cluster)
    {
        _cluster = cluster;
        _signals = [.. new[] { (PosixSignal.SIGINT, 2), (PosixSignal.SIGTERM, 15), (PosixSignal.SIGHUP, 1) }.Select(s => PosixSignalRegistration.Create(s.Item1, context =>
        {
            context.Cancel = true;
            End(128 + s.Item2, static () => { });
        }))];
    }

    /// <summary>False if the run is already being ended.</summary>
    public bool Claim() => Interlocked.Exchange(ref _claimed, 1) == 0;

    public void End(int exitCode, Action lastWord)
    {
        if (!Claim()) return;
        _cluster.Dispose();
        lastWord();
        Environment.Exit(exitCode);
    }

    /// <summary>Waits for the thread that ends the process.</summary>
    public int Wait()
    {
        Thread.Sleep(Timeout.Infinite);
        return 1;
    }

    public void Dispose()
    {
        foreach (var signal in _signals) signal.Dispose();
    }
}
