using GroupCore.Transport;

namespace GroupCore.Tests.Groups;

/// <summary>Links of a fixed bandwidth under more bulk than they carry: what waits on them is bounded in bytes and time, and control passes.</summary>
public sealed class SlowLinkTests
{
    private const long BytesPerSecond = 2_500_000;

    [Theory, InlineData(1), InlineData(2), InlineData(3)]
    public void F8_a_view_change_passes_while_bulk_fills_a_slow_link(ulong seed)
    {
        int delivered = 0;
        using var cluster = new GroupCluster(seed, 2, more: g => g.Handle<byte[]>("bulk", (from, m) => delivered++), link: new() { BytesPerSecond = BytesPerSecond });
        Assert.True(cluster.Settle());
        var from = cluster[0];
        for (int i = 0; i < 400; i++) _ = cluster.Simulation.Spawn(() => from.Group!.SendAsync("bulk", new byte[60_000]).AsTask());
        // The budget finds the speed of the link.
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        long most = 0;
        int peer = from.SimNode.Node.Links.Open(cluster[1].SimNode.Address);
        cluster.Simulation.AddInvariant("backlog", () =>
        {
            most = Math.Max(most, from.SimNode.Node.Links.Backlog(peer));
            return null;
        });
        ulong view = from.Group!.CurrentView.Id;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => from.Group.CurrentView.Id > view, TimeSpan.FromSeconds(2)), $"{from.Group.Protocol} {cluster[1].Group!.Protocol} {delivered} most {most}");
        Assert.True(cluster.Simulation.RunUntil(() => delivered == 800, TimeSpan.FromSeconds(30)), $"{delivered} delivered");
        Assert.InRange(most, 1, LinkLimits.LeastBulkBytes * 2);
        Assert.Empty(cluster.Oracle.Accusations);
    }
}
