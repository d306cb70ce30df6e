using System.Buffers.Binary;
using GroupCore.Runtime;
using Ida.Testing;

namespace GroupCore.Tests.Groups;

/// <summary>A member acknowledges messages that were not sent to it yet. The acknowledgement does not count, and they are sent all the same.</summary>
public sealed class EarlyPeerAckTests
{
    private const int Messages = 12;

    [Theory]
    [InlineData(1, 0)]
    // Long enough for unused room to be given back meanwhile.
    [InlineData(2, 12)]
    public void R_what_waits_for_room_is_not_acknowledged(ulong seed, int seconds)
    {
        int got = 0;
        TestMember? first = null;
        using var cluster = new GroupCluster(seed, 3, more: g => g
            .Handle<int>("flood", (from, to) =>
            {
                for (int i = 0; i < Messages; i++) _ = first!.Group!.SendToAsync<ReadOnlyMemory<byte>>(to, "part", new byte[1_000_000]).AsTask();
            })
            .HandleBytes("part", (from, bytes) => got++));
        Assert.True(cluster.Settle());
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        first = cluster[0];
        var hostile = cluster[1];
        var group = first.Group!.Protocol;
        int rank = hostile.Group!.Rank;
        cluster.Simulation.Network.Cut(first.SimNode, hostile.SimNode, CutMode.Hold);
        _ = cluster.Simulation.Spawn(() => first.Group.SendToAsync(first.Group.Rank, "flood", rank).AsTask());
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50));
        // The extra one is the message whose handler sent them.
        Assert.Equal(Messages + 1, group.Peers.Outstanding);
        long refused = 0;
        first.SimNode.Post(() =>
        {
            byte[] acks = new byte[2 + (4 * Messages)];
            BinaryPrimitives.WriteUInt16LittleEndian(acks, Messages);
            for (int id = 0; id < Messages; id++) BinaryPrimitives.WriteInt32LittleEndian(acks.AsSpan(2 + (4 * id)), id);
            var counters = first.SimNode.Node.Counters;
            long before = counters.Refused(RefusalReason.Unexpected);
            group.Peers.OnPeerAck(rank, acks);
            refused = counters.Refused(RefusalReason.Unexpected) - before;
        });
        cluster.Simulation.Run(TimeSpan.FromMilliseconds(50) + TimeSpan.FromSeconds(seconds));
        cluster.Simulation.Network.Heal();
        Assert.True(cluster.Simulation.RunUntil(() => got == Messages, TimeSpan.FromSeconds(30)), $"{got} of {Messages} came");
        cluster.Simulation.Run(TimeSpan.FromSeconds(1));
        Assert.InRange(refused, 1, Messages - 1);
        Assert.Equal(0, group.Peers.Outstanding);
        Assert.False(group.Calls.Shares.Of(group.View!, rank).IsUsed);
    }
}
