using System.Runtime.CompilerServices;
using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Seams;

/// <summary>A <c>lock</c>: a thread that does not get it waits where the schedule sees it.</summary>
internal static class LockSeam
{
    public static Held Enter(object on, [CallerFilePath] string file = "", [CallerLineNumber] int line = 0)
    {
        if (Lane.Current is not { } lane) return default;
        var state = Explored.Of<State>(on);
        lane.Schedule.Wait(lane, new("lock", file, line), () => state.Owner is null || state.Owner == lane);
        state.Owner = lane;
        state.Depth++;
        return new(state);
    }

    internal sealed class State
    {
        public Lane? Owner;
        public int Depth;
    }

    internal readonly struct Held(State? state) : IDisposable
    {
        public void Dispose()
        {
            if (state is null) return;
            Explored.Fence("unlock", "", 0);
            if (--state.Depth == 0) state.Owner = null;
        }
    }
}
