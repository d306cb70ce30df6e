using GroupCore.Groups;
using Ida.Perf.Macro.CommandLine;
using Ida.Perf.Macro.Measuring;

namespace Ida.Perf.Macro.Members;

/// <summary>A member's part in a run: its number, the cluster and the options.</summary>
internal sealed record Place(int Id, string Cluster, string[] Seeds, RunOptions Options)
{
    private const int FormSeconds = 60;
    private const int DetectionRounds = 4;

    public ValueTask<IdaNode> StartNodeAsync() => IdaNode.StartAsync(new()
    {
        Cluster = Cluster,
        Seeds = Seeds,
        Tag = $"{Id}",
        Spin = TimeSpan.FromMicroseconds(Options.Spin),
        Security = Options.Credentials(Cluster),
        Membership = Options.Detection == 0 ? new() : new()
        {
            ProbeInterval = TimeSpan.FromMilliseconds(Options.Detection / (double)DetectionRounds),
            ProbeRounds = DetectionRounds,
            LeaseDuration = TimeSpan.FromMilliseconds(Options.Detection),
        },
    });

    /// <summary>Waits for the view with that many members.</summary>
    public static async Task FormedAsync(Group group, long members)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(FormSeconds));
        await foreach (var view in group.Views(limit.Token))
            if (view.Members.Count == members) return;
    }

    /// <summary>Waits for a condition, bounded.</summary>
    public static async Task UntilAsync(Func<Task<bool>> condition, string what)
    {
        for (long limit = Clock.Now + (FormSeconds * Clock.Second); !await condition();)
        {
            if (Clock.Now > limit) throw new TimeoutException($"not within {FormSeconds} s: {what}");
            await Task.Delay(10);
        }
    }
}
