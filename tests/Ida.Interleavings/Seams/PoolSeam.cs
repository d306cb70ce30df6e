using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Seams;

/// <summary>The <see cref="ThreadPool"/>: lanes that start as needed. A lane takes any of the queued items, and some items run only after long, as when all its threads are blocked.</summary>
internal static class PoolSeam
{
    private const int StarvedOneIn = 24;
    private const long Starved = 500_000;

    public static bool UnsafeQueueUserWorkItem(IThreadPoolWorkItem item, bool preferLocal)
    {
        Queue(item.Execute);
        return true;
    }

    public static bool UnsafeQueueUserWorkItem<T>(Action<T> item, T state, bool preferLocal)
    {
        Queue(() => item(state));
        return true;
    }

    private static void Queue(Action work)
    {
        Explored.Fence("queue");
        var pool = Explored.Of<Pool>(typeof(PoolSeam));
        pool.Queued.Add(work);
        if (pool.Queued.Count > pool.Idle) Lane.Current!.Schedule.Start($"pool{pool.Workers++}", () => Serve(pool), serves: true);
    }

    private static void Serve(Pool pool)
    {
        var lane = Lane.Current!;
        while (true)
        {
            lane.Serves = true;
            pool.Idle++;
            Explored.Wait(() => pool.Queued.Count > 0 || lane.Schedule.IsEnding, what: "idle");
            pool.Idle--;
            if (pool.Queued.Count == 0) return;
            lane.Serves = false;
            int at = lane.Schedule.Draw(pool.Queued.Count);
            var work = pool.Queued[at];
            pool.Queued.RemoveAt(at);
            if (lane.Schedule.Happens(StarvedOneIn)) Explored.Wait(static () => false, Starved, "starved");
            work();
        }
    }

    private sealed class Pool
    {
        public List<Action> Queued { get; } = [];

        public int Workers { get; set; }

        public int Idle { get; set; }
    }
}
