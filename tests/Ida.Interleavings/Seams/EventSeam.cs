using System.Runtime.CompilerServices;

namespace Ida.Interleavings.Seams;

/// <summary>An <see cref="AutoResetEvent"/>.</summary>
internal sealed class EventSeam(bool isSet) : IDisposable
{
    private const long Millisecond = 1_000_000;
    private bool _isSet = isSet;
    private bool _isDisposed;

    public void Set([CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        Explored.Fence("set", file, line);
        Open();
        _isSet = true;
    }

    public bool WaitOne(int milliseconds, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        Open();
        if (!Explored.Wait(() => _isSet, milliseconds < 0 ? long.MaxValue : milliseconds * Millisecond, "event", file, line)) return false;
        _isSet = false;
        return true;
    }

    public void Dispose()
    {
        Explored.Fence("dispose");
        Open();
        _isDisposed = true;
    }

    private void Open()
    {
        if (_isDisposed) Scheduling.Lane.Current!.Schedule.Fail("An event is used after it was disposed of");
    }
}
