using System.Diagnostics;
using System.Globalization;

namespace Ida.Campaign;

/// <summary>Prints how many seeds are done, how fast, and how long the rest will take, every few seconds.</summary>
internal sealed class Progress : IDisposable
{
    private static readonly TimeSpan s_every = TimeSpan.FromSeconds(10);
    private readonly Stopwatch _watch = Stopwatch.StartNew();
    private readonly Timer _timer;
    private readonly int _count;
    private readonly TimeSpan _time;
    private int _done;

    public Progress(int count, TimeSpan? time) => (_count, _time, _timer) = (count, time ?? TimeSpan.MaxValue, new(_ => Print(), null, s_every, s_every));

    public int Done => Volatile.Read(ref _done);

    public void Advance() => Interlocked.Increment(ref _done);

    public void Dispose()
    {
        _timer.Dispose();
        Print();
    }

    private void Print()
    {
        int done = Done;
        double rate = done / _watch.Elapsed.TotalSeconds;
        var left = rate > 0 ? TimeSpan.FromSeconds((_count - done) / rate) : TimeSpan.Zero;
        var rest = _time - _watch.Elapsed;
        if (rest < left) left = rest > TimeSpan.Zero ? rest : TimeSpan.Zero;
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{done} of {_count} seeds, {rate:F1} per second, {_watch.Elapsed:hh\\:mm\\:ss} so far, {left:hh\\:mm\\:ss} left"));
    }
}
