using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Transport;
using GroupCore.Wire;

namespace Ida.Process.Tests.Nodes;

/// <summary>A link of the real mesh that overflows between living members.</summary>
public sealed class LostLinkTests
{
    private static readonly TimeSpan Bound = TimeSpan.FromSeconds(30);

    [Fact]
    public async Task F8_a_group_goes_on_after_a_link_of_the_mesh_overflowed()
    {
        var nodes = new List<IdaNode> { await IdaNode.StartAsync(new() { Cluster = "lost", Listen = "127.0.0.1:0" }) };
        for (int i = 1; i < 3; i++) nodes.Add(await IdaNode.StartAsync(new() { Cluster = "lost", Seeds = [nodes[0].Address.Text], Listen = "127.0.0.1:0" }));
        int delivered = 0;
        var all = new TaskCompletionSource();
        var groups = new List<Group>();
        foreach (var node in nodes)
            groups.Add(await node.JoinAsync("g", g => g.Handle<int>("m", (_, _) =>
            {
                if (Interlocked.Increment(ref delivered) == 18) all.TrySetResult();
            })).AsTask().WaitAsync(Bound));
        foreach (var group in groups) await SeesThreeAsync(group);
        var from = groups[0].Protocol;
        int to = groups[1].CurrentView.RankOf(groups[1].Protocol.Membership.Self);
        var sent = new TaskCompletionSource();
        from.Post(new CallCommand(() =>
        {
            for (long bytes = 0; bytes <= LinkLimits.QueueBytes; bytes += 1_000_000)
            {
                from.Links.Frame(FrameType.FirstLayer, 1_000_000);
                from.Links.SendTo(to);
            }
            sent.SetResult();
        }));
        await sent.Task.WaitAsync(Bound);
        foreach (var group in groups)
        {
            await group.OrderedSendAsync("m", 1).AsTask().WaitAsync(Bound);
            await group.SendAsync("m", 2).AsTask().WaitAsync(Bound);
        }
        await all.Task.WaitAsync(Bound);
        Assert.All(groups, group => Assert.Equal(3, group.CurrentView.Members.Count));
        foreach (var node in nodes) await node.DisposeAsync();
    }

    private static async Task SeesThreeAsync(Group group)
    {
        using var patience = new CancellationTokenSource(Bound);
        await foreach (var view in group.Views(patience.Token))
            if (view.Members.Count == 3) return;
    }
}
