using System.Runtime.InteropServices;

namespace Ida.Perf.Macro.Driving;

/// <summary>Ends the run before its time, by a signal or by the clock: kills the members first, by their ids. Whoever claims the end first has it.</summary>
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

    /// <summary>False when the run is being ended.</summary>
    public bool Claim() => Interlocked.Exchange(ref _claimed, 1) == 0;

    public void End(int exitCode, Action lastWord)
    {
        if (!Claim()) return;
        _cluster.Dispose();
        lastWord();
        Environment.Exit(exitCode);
    }

    /// <summary>Another thread ends the process.</summary>
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
