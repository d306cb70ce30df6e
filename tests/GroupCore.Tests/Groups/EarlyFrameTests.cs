using System.Buffers.Binary;
using GroupCore.Groups;
using GroupCore.Groups.Calls;
using GroupCore.Groups.Multicast;
using GroupCore.Groups.Shared;
using GroupCore.Groups.Views;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Wire;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>Frames of views to come. Those of strangers must not cost a member its place, and a member must notice if it lost frames of a true member.</summary>
public sealed class EarlyFrameTests
{
    private static GroupCluster Settled(ulong seed)
    {
        var cluster = new GroupCluster(seed, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    /// <summary>Gives a member this many MB of frames for its next view.</summary>
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

    /// <summary>The link of another member while it is unconfirmed: somebody has dialled in and says that it is that member.</summary>
    private static SimLinkEnd Unsettled(GroupCluster cluster)
    {
        var end = cluster[0].SimNode.Links.Ends.Single(end => end.Address == cluster[1].SimNode.Address && !end.IsOver);
        end.IsUnsettled = true;
        return end;
    }

    /// <summary>Gives a member a frame for its next view that is counted as malformed when it is handled.</summary>
    private static void GiveMalformed(TestMember target, int peer) => target.SimNode.Post(() =>
    {
        var protocol = target.Group!.Protocol;
        byte[] frame = new byte[FrameHeader.Size + 1];
        FrameHeader.Write(frame, FrameType.Data, protocol.Slot, (uint)protocol.View!.Id + 1, 1);
        Assert.True(FrameHeader.TryRead(frame, out var header));
        protocol.OnFrame(peer, header, frame.AsSpan(FrameHeader.Size), protocol.View.Id + 1);
    });

    private static void NextView(GroupCluster cluster)
    {
        ulong view = cluster[0].Group!.Protocol.View!.Id;
        cluster.Oracle.RequestView(cluster.Oracle.Find("g")!.Id);
        Assert.True(cluster.Simulation.RunUntil(() => cluster[0].Group!.Protocol.View!.Id > view, TimeSpan.FromSeconds(5)));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
    }

    [Fact]
    public void An_early_frame_over_a_link_that_is_not_settled_is_not_held_against_the_member_that_the_link_names()
    {
        using var cluster = Settled(3);
        var counters = cluster[0].SimNode.Node.Counters;
        var end = Unsettled(cluster);
        GiveMalformed(cluster[0], end.Number);
        NextView(cluster);
        Assert.Equal(0, counters.Refused(RefusalReason.Malformed));
        // It was somebody else: the link ends, and the member comes over a link of its own.
        cluster[0].SimNode.Post(() => end.End(LinkFault.Rejected));
        cluster.Simulation.Run(TimeSpan.FromSeconds(2));
        Assert.Equal((0, 1), (counters.Refused(RefusalReason.Malformed), counters.Refused(RefusalReason.WrongSender)));
        Assert.True(cluster.Settle());
        Assert.Null(cluster[0].Group!.Protocol.Over);
        Assert.Null(cluster.Verdict());
    }

    [Fact]
    public void An_early_frame_of_a_member_is_handled_when_its_link_is_settled()
    {
        using var cluster = Settled(4);
        var counters = cluster[0].SimNode.Node.Counters;
        var end = Unsettled(cluster);
        GiveMalformed(cluster[0], end.Number);
        NextView(cluster);
        Assert.Equal(0, counters.Refused(RefusalReason.Malformed));
        cluster.Simulation.Spawn(() => cluster[1].SendAsync(true));
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        cluster[0].SimNode.Post(end.Settle);
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(100));
        Assert.True(cluster.Settle());
        Assert.Equal((1, 0), (counters.Refused(RefusalReason.Malformed), counters.Refused(RefusalReason.WrongSender)));
        Assert.Null(cluster.Verdict());
    }

    /// <summary>The view comes with the frame of another member, which must not be counted as malformed.</summary>
    [Fact]
    public void A_malformed_early_frame_is_held_against_its_sender_and_not_against_the_member_whose_frame_brings_the_view()
    {
        using var cluster = Settled(6);
        var counters = cluster[0].SimNode.Node.Counters;
        var view = cluster[0].Group!.Protocol.View!;
        var other = view.Members[(cluster[0].Group!.Protocol.Rank + 1) % 3];
        GiveMalformed(cluster[0], cluster[0].SimNode.Node.Links.Open(other.Address, other.Id.Node));
        NextView(cluster);
        Assert.Equal((1, 0), (counters.Refused(RefusalReason.Malformed), counters.Offences));
    }

    /// <summary>
    /// A message that cannot be read is found when it is delivered. The last messages of a view are delivered with the frame that ends it, whose sender did nothing wrong.
    /// </summary>
    [Fact]
    public void A_malformed_last_message_of_a_view_is_not_held_against_the_member_whose_frame_ends_the_view()
    {
        using var cluster = Settled(7);
        var counters = cluster[0].SimNode.Node.Counters;
        var group = cluster[0].Group!.Protocol;
        cluster[0].SimNode.Post(() =>
        {
            StoreUnreadable(group);
            var cut = new FlushCut(1, 3);
            for (int rank = 0; rank < 3; rank++) cut.Upto[rank] = group.Multicast.ReceivedOf(rank);
            group.Multicast.DeliverCut(cut);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        Assert.Equal((1, 0), (counters.Refused(RefusalReason.Malformed), counters.Offences));
    }

    /// <summary>The messages that are here when a view change begins are delivered first, with the frame of the Oracle's that begins it.</summary>
    [Fact]
    public void A_malformed_message_that_a_proposal_delivers_is_not_held_against_the_replica_that_proposes()
    {
        using var cluster = Settled(8);
        var counters = cluster[0].SimNode.Node.Counters;
        var group = cluster[0].Group!.Protocol;
        cluster[0].SimNode.Post(() =>
        {
            StoreUnreadable(group);
            Assert.Equal(0, counters.Refused(RefusalReason.Malformed));
            var view = group.View!;
            group.OnPropose(new(view.Group, 1 << 20, view.Id, [.. view.Members.Select(static member => member.Id)], [], []));
            Assert.Equal((1, 0), (counters.Refused(RefusalReason.Malformed), counters.Offences));
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        Assert.Equal(1, counters.Refused(RefusalReason.Malformed));
    }

    [Fact]
    public void Early_frames_over_a_link_that_is_not_settled_make_no_member_withdraw()
    {
        using var cluster = Settled(5);
        var end = Unsettled(cluster);
        Give(cluster[0], end.Number, 20);
        NextView(cluster);
        Assert.Null(cluster[0].Group!.Protocol.Over);
        cluster[0].SimNode.Post(() => end.End(LinkFault.Rejected));
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

    /// <summary>Another member's query without a number, which is found to be none when it is delivered.</summary>
    private static void StoreUnreadable(GroupProtocol group)
    {
        int other = (group.Rank + 1) % 3;
        byte[] body = new byte[ViewMulticast.DataHead + MessageRecord.HeadOf(MessageKind.Query | MessageKind.Whole)];
        BinaryPrimitives.WriteUInt16LittleEndian(body, (ushort)other);
        BinaryPrimitives.WriteUInt16LittleEndian(body.AsSpan(2), 1);
        BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(4), group.Multicast.ReceivedOf(other));
        MessageRecord.Write(body.AsSpan(ViewMulticast.DataHead), MessageKind.Query | MessageKind.Whole, 0, 0, []);
        group.Multicast.OnData(other, body, wedged: false);
    }
}
