using GroupCore.Groups;
using GroupCore.Groups.Views;
using GroupCore.Membership;
using GroupCore.Transport;
using GroupCore.Wire;

namespace GroupCore.Tests.Groups;

/// <summary>Frames of a sender for views to come belong to its link and go with it. Strangers that come, send and go again therefore do not add up to that many senders.</summary>
public sealed class EndedLinkTests
{
    private const int Stranger = 5_000;

    private static GroupCluster Settled(ulong seed, int members)
    {
        var cluster = new GroupCluster(seed, members);
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        return cluster;
    }

    private static void Give(GroupHost host, int peer, FrameType type, ushort slot, ulong view, ReadOnlySpan<byte> body)
    {
        byte[] frame = new byte[FrameHeader.Size + body.Length];
        FrameHeader.Write(frame, type, slot, (uint)view, body.Length);
        Assert.True(FrameHeader.TryRead(frame, out var header));
        host.OnFrame(peer, header, body);
    }

    private static void Send(GroupHost host, int peer, GroupId group, ulong view)
    {
        byte[] bind = new byte[BindTable.Body];
        BindTable.Write(bind, group, view);
        Give(host, peer, FrameType.Bind, 7, view, bind);
        Give(host, peer, FrameType.Data, 7, view, []);
    }

    [Theory]
    [InlineData(nameof(LinkFault.Rejected))]
    [InlineData(nameof(LinkFault.Replaced))]
    [InlineData(nameof(LinkFault.Overflow))]
    [InlineData(nameof(LinkFault.WrongCluster))]
    public void What_a_stranger_sent_to_a_member_goes_with_its_link(string named)
    {
        var fault = Enum.Parse<LinkFault>(named);
        using var cluster = Settled(1, 2);
        var (host, protocol) = (cluster[0].Host, cluster[0].Group!.Protocol);
        var counters = cluster[0].SimNode.Node.Counters;
        long refused = counters.Refused(GroupCore.Runtime.RefusalReason.WrongSender);
        cluster[0].SimNode.Post(() =>
        {
            for (int i = 0; i < 3; i++) Send(host, Stranger + i, protocol.Id!.Value, protocol.View!.Id + 1);
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        long each = protocol.HeldEarly.Strangers / 3;
        Assert.True(each > 0);
        Fail(LinkFault.Reset, LinkFault.Refused, LinkFault.Unreachable);
        Assert.Equal((0, 3 * each), protocol.HeldEarly);
        Fail(fault);
        Assert.Equal((0, 2 * each), protocol.HeldEarly);
        Assert.Equal(refused + 1, counters.Refused(GroupCore.Runtime.RefusalReason.WrongSender));

        void Fail(params LinkFault[] faults)
        {
            cluster[0].SimNode.Post(() =>
            {
                foreach (var one in faults) host.OnLinkFault(Stranger + 1, one);
            });
            cluster.Simulation.Run(TimeSpan.FromMilliseconds(1));
        }
    }

    [Fact]
    public void What_a_stranger_sent_to_a_process_that_joins_goes_with_its_link()
    {
        using var cluster = Settled(2, 1);
        var comer = cluster.Add();
        Assert.True(cluster.Simulation.RunUntil(() => comer.Host.Groups is [{ Id: null }], TimeSpan.FromMilliseconds(10)));
        var id = cluster.Oracle.Find("g")!.Id;
        long held = 0, left = -1;
        comer.SimNode.Post(() =>
        {
            Send(comer.Host, Stranger, id, 60);
            held = comer.Host.EarlyBytes;
            comer.Host.OnLinkFault(Stranger, LinkFault.Rejected);
            left = comer.Host.EarlyBytes;
        });
        Assert.True(cluster.Settle());
        Assert.True(held > 0);
        Assert.Equal(0, left);
        Assert.Equal((0, 0), comer.Group!.Protocol.HeldEarly);
    }
}
