using System.Buffers.Binary;
using GroupCore.Groups.Calls;

namespace GroupCore.Tests.Groups;

/// <summary>What is stored for long keeps its own bytes and not the buffers that it came in (the guide, memory).</summary>
public sealed class StoredMemoryTests
{
    private const int Small = 100, Large = 120_000, Rounds = 300;

    [Fact]
    public void Small_messages_that_one_member_does_not_acknowledge_keep_no_buffers_of_other_senders()
    {
        var world = new LoopbackGroup(4);
        // Rank 0 is heard only by what the test says in its name: that it has all but the small messages.
        var (small, large, other) = (world.Members[1], world.Members[2], world.Members[3]);
        for (int i = 0; i < Rounds; i++)
        {
            _ = small.Group.SendAsync("bytes", new ReadOnlyMemory<byte>(new byte[Small])).AsTask();
            _ = large.Group.SendAsync("bytes", new ReadOnlyMemory<byte>(new byte[Large])).AsTask();
            for (int turn = 0; turn < 3; turn++)
            {
                small.Turn(i * 1_000_000L);
                large.Turn(i * 1_000_000L);
                other.Turn(i * 1_000_000L);
            }
            world.Members[0].Lose();
            Acknowledge(small);
            Acknowledge(large);
            Acknowledge(other);
        }
        Assert.Equal(3 * 2 * Rounds, world.Delivered);
        Assert.Equal(Rounds, (int)other.Group.Protocol.Multicast.ReceivedOf(1));
        Assert.InRange(other.Group.Protocol.Multicast.KeptBytes, Rounds * Small, 20 << 20);

        void Acknowledge(LoopbackNode member)
        {
            var group = member.Group.Protocol;
            var body = new byte[7 + 6];
            BinaryPrimitives.WriteUInt16LittleEndian(body.AsSpan(5), 1);
            BinaryPrimitives.WriteUInt16LittleEndian(body.AsSpan(7), 2);
            BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(9), group.Multicast.ReceivedOf(2));
            group.Post(new CallCommand(() =>
            {
                group.Touch();
                group.Multicast.OnAck(0, body);
            }));
            member.Turn(0);
        }
    }
}
