using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Scenarios;

/// <summary>A section for one thread at a time: two fail the schedule. A thread may enter it again while it is inside.</summary>
internal sealed class Exclusive(string what)
{
    private Lane? _inside;
    private int _depth;
    private string _step = "";

    public Held Enter(string step)
    {
        if (Lane.Current is not { } lane) return default;
        if (_inside is not null && _inside != lane) lane.Schedule.Fail($"Two are in {what}: {_inside.Name} ({_step}) and {lane.Name} ({step})");
        (_inside, _step) = (lane, step);
        _depth++;
        Explored.Point(step);
        return new(this);
    }

    internal readonly struct Held(Exclusive? of) : IDisposable
    {
        public void Dispose()
        {
            if (of is null) return;
            Explored.Point("through");
            if (--of._depth == 0) of._inside = null;
        }
    }
}
