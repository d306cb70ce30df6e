using Ida.Interleavings.Scheduling;

namespace Ida.Interleavings.Seams;

/// <summary>The <see cref="ThreadPool"/>: as many lanes as a scenario starts; which of the queued items one takes is open.</summary>
internal static class PoolSeam
{
    /// <summary>Starts workers of the pool.</summary>
    public static void Start(Schedule schedule, int workers)
    {
        for (int i = 0; i < workers; i++) schedule.Start($"pool{i}", Serve, serves: true);
    }

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
        Explored.Of<List<Action>>(typeof(PoolSeam)).Add(work);
    }

    private static void Serve()
    {
        var lane = Lane.Current!;
        var queued = Explored.Of<List<Action>>(typeof(PoolSeam));
        while (true)
        {
            lane.Serves = true;
            Explored.Wait(() => queued.Count > 0 || lane.Schedule.IsEnding, what: "idle");
            if (queued.Count == 0) return;
            lane.Serves = false;
            int at = lane.Schedule.Draw(queued.Count);
            var work = queued[at];
            queued.RemoveAt(at);
            work();
        }
    }
}
