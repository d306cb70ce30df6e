using GroupCore.Groups;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>Frames of views to come: strangers cost no member its place, and what a true member lost is not passed over.</summary>
public sealed class EarlyFrameTests
{
    private static GroupCluster Settled(ulong seed)
    {
        var cluster = new GroupCluster(seed, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    /// <summary>Gives a member so many MB of frames for its next view.</summary>
    private static void Give(TestMember target, int peer, int megabytes) => target.SimNode.Post(() =>
    {
        var protocol = target.Group!.Protocol;
        byte[] frame = new byte[FrameHeader.Size + 1_000_000];
        FrameHeader.Write(frame, FrameType.Data, protocol.Slot, (uint)protocol.View!.Id + 1, 1_000_000);
        Assert.True(FrameHeader.TryRead(frame, out var header));
        for (int i = 0; i < megabytes; i++) protocol.OnFrame(peer, header, frame.AsSpan(FrameHeader.Size), protocol.View.Id + 1);
    });

    [Fact]
    public void F17_frames_of_strangers_make_no_member_withdraw()
    {
        using var cluster = Settled(1);
        for (int stranger = 5_000; stranger < 5_010; stranger++)
        {
            for (int i = 0; i < 5; i++) Give(cluster[0], stranger, 20);
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        }
        Assert.Null(cluster[0].Group!.Protocol.Over);
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.True(cluster.Settle());
        Assert.Null(cluster[0].Group!.Protocol.Over);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void F17_a_member_whose_frames_of_a_view_were_lost_is_noticed_when_that_view_is_installed()
    {
        using var cluster = Settled(2);
        var protocol = cluster[0].Group!.Protocol;
        var view = protocol.View!;
        int peer = cluster[0].SimNode.Node.Links.Open(view.Members[(protocol.Rank + 1) % 3].Address, view.Members[(protocol.Rank + 1) % 3].Id.Node);
        Give(cluster[0], peer, 20);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        // Only the membership says whether that sender is in the next view.
        Assert.Null(protocol.Over);
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.IsType<GroupOverloadedException>(protocol.Over);
    }
}
