using System.Buffers.Binary;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>Frames of a flush in which this member takes no part.</summary>
public sealed class FlushWaitTests
{
    [Fact]
    public void R14_who_takes_no_part_in_a_proposal_refuses_its_frames()
    {
        using var cluster = new GroupCluster(31, 3);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        var target = cluster[2];
        Exception? thrown = null;
        long refused = 0;
        target.SimNode.Post(() =>
        {
            var group = target.Group!.Protocol;
            var view = group.View!;
            group.OnPropose(new Proposal(view.Group, 1_000_000, view.Id, [view.Members[0].Id, view.Members[1].Id], [], []));
            byte[] body = new byte[9];
            BinaryPrimitives.WriteUInt64LittleEndian(body, 1_000_000);
            long before = target.SimNode.Node.Counters.Refused(RefusalReason.Unexpected);
            thrown = Record.Exception(() => group.Flush.OnFrame(0, FrameType.FlushWait, body));
            refused = target.SimNode.Node.Counters.Refused(RefusalReason.Unexpected) - before;
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(10));
        Assert.Null(thrown);
        Assert.Equal(1, refused);
    }
}
