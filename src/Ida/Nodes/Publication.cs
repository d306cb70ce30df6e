using GroupCore.Groups;
using GroupCore.Runtime;

namespace Ida.Nodes;

/// <summary>
/// Makes the meters' instruments and the sources of activities of this process, once, with its first measured node. Listeners are asked about each of them as it is made. They are user
/// code, which may throw and block: so this is a work item of the pool, under no lock and in no type initializer. A listener that blocks for ever keeps the rest from being made.
/// </summary>
internal static class Publication
{
    /// <summary>How long the start of a node waits for it.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);
    private static readonly TaskCompletionSource s_made = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private static int s_begun;

    /// <summary>Has everything made soon, on another thread; only the first call has an effect.</summary>
    public static void Begin(INode node)
    {
        if (Interlocked.Exchange(ref s_begun, 1) == 0) node.Resume(new ActionCompletion(Make));
    }

    /// <summary>Waits until everything is made, but not longer than <see cref="Patience"/>: code that measures after the start of a node finds the instruments.</summary>
    public static async Task WaitAsync(ILifeHost host)
    {
        try
        {
            if (!s_made.Task.IsCompleted) await host.WithinAsync(s_made.Task, Patience).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            // A listener blocks; the node goes on without what is held up by that.
        }
    }

    private static void Make()
    {
        NodeMeters.Publish();
        GroupTraces.Publish();
        DhtTraces.Publish();
        s_made.SetResult();
    }
}
