using Ida.Kinds;
using Ida.Ordering;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Messages and delays (dht-order.md#costs). The lazy counts of <c>Settle</c> frames, for which no operation waits, are left out.</summary>
public sealed class CostTests
{
    [Fact]
    public void I9_12_a_put_with_two_replicas_takes_6_messages_and_2_delays()
    {
        var world = DhtWorld.Founded(4);
        var put = world.Members[1].Dht.Map<string, int>("ints").PutAsync("a0", 1).AsTask();
        Assert.Equal(2, Delays(world, put));
        world.DeliverAll();
        Assert.Equal(6, Sent(world));
    }

    [Fact]
    public void I9_12_a_put_from_a_replica_saves_its_own_messages()
    {
        var world = DhtWorld.Founded(4);
        var put = world.Members[0].Dht.Map<string, int>("ints").PutAsync("a0", 1).AsTask();
        Assert.Equal(2, Delays(world, put));
        world.DeliverAll();
        Assert.Equal(3, Sent(world));
    }

    [Fact]
    public void I9_12_a_read_of_one_key_takes_2_messages_and_none_at_a_member_that_holds_it()
    {
        var world = DhtWorld.Founded(4);
        var get = world.Members[1].Dht.Map<string, int>("ints").GetAsync("a0").AsTask();
        Assert.Equal(2, Delays(world, get));
        Assert.Equal(2, Sent(world));
        var own = world.Members[0].Dht.Map<string, int>("ints").GetAsync("a0").AsTask();
        Assert.Equal(0, Delays(world, own));
        Assert.Equal(2, Sent(world));
        Assert.Equal(1, world.Members[0].Dht.Counters.LocalReads);
    }

    [Fact]
    public void I9_12_a_read_over_two_shards_takes_6_messages_and_2_delays()
    {
        var world = DhtWorld.Founded(4, options: new() { ShardSize = 1, TargetSize = 4, Hash = new LastByteHash() });
        var get = world.Members[2].Dht.Map<string, int>("ints").GetAsync(["a0", "a1"]).AsTask();
        Assert.Equal(2, Delays(world, get));
        world.DeliverAll();
        Assert.Equal(6, Sent(world));
    }

    [Fact]
    public void I9_13_members_that_are_not_addressed_get_no_message()
    {
        var world = DhtWorld.Founded(8, options: new() { ShardSize = 2, TargetSize = 8, Hash = new LastByteHash() });
        var put = world.Members[1].Dht.Map<string, int>("ints").PutAsync("a0", 1).AsTask();
        world.Members[1].Turn(static () => { });
        world.RunUntil(() => put.IsCompleted, "The put");
        world.Settle();
        foreach (int other in new[] { 2, 3, 6, 7 }) Assert.Equal(0, world.Delivered(other));
        Assert.NotEqual(0, world.Delivered(0));
        Assert.NotEqual(0, world.Delivered(4));
    }

    /// <summary>
    /// Reads of the same keys. In front of them stands, at the last key, a put that has no time yet and, at the others, a put that is executed and not stable. Or only the
    /// last key has a put, which is executed and not stable.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R_reads_of_many_keys_behind_a_put_that_waits_are_found_to_wait_in_one_step_each(bool executed)
    {
        const int Keys = 12, Reads = 150;
        var world = DhtWorld.Founded(4);
        var member = world.Members[0];
        var participant = member.Host.Current!.Participant;
        ulong sequence = DhtWorld.Named;
        var first = Propose(1, Keys - 1, OperationKind.Put);
        Commit(first);
        var last = Propose(Keys, 1, OperationKind.Put);
        if (executed)
        {
            Commit(last);
            Stabilize(first);
        }
        Assert.Equal(executed, last.Executed);
        long before = participant.Looked;
        var reads = new List<ParticipantRecord>();
        for (int i = 0; i < Reads; i++) reads.Add(Propose(1, Keys, OperationKind.Get));
        Assert.All(reads, read => Assert.Equal((executed, false), (read.Executed, read.Stable)));
        // A read that waits for the put to be executed is looked at when it comes. Executed reads are looked at, at each of their keys, whenever another one is executed.
        Assert.InRange(participant.Looked - before, 1, Keys * Reads * (executed ? Reads + Keys : 1));
        if (!executed)
        {
            Commit(last);
            Stabilize(first);
        }
        Assert.Equal(2 + Reads, participant.Records.Count);
        Stabilize(last);
        Assert.Equal(2, participant.Records.Count);

        ParticipantRecord Propose(int firstKey, int keys, OperationKind kind)
        {
            var op = participant.Records.New();
            op.Key = new(new(member.Host.Current!.State.Session, sequence++), 1);
            (op.Kind, op.Single, op.Payload) = (kind, !kind.Changes, kind.Changes ? sequence : 0);
            op.AddSlot(0);
            if (kind.Changes) op.AddSlot(1);
            for (int i = firstKey; i < firstKey + keys; i++)
            {
                byte[] key = [1, 2, 3, 4, 5, 6, 7, 8, (byte)i, (byte)'0'];
                op.AddUse(participant.Slice.EntryOf(key, StableHash.Of(key)), new(kind.Changes ? KeyEffect.Put : KeyEffect.Read)).Incoming = kind.Changes ? [1] : null;
            }
            member.Turn(() => participant.Propose(op, from: 1, hint: 1, ackedBelow: 0));
            return op;
        }

        void Commit(ParticipantRecord op) => member.Turn(() => participant.Commit(op.Key, op.Owner, from: 1, OperationKind.Put, op.Proposed, stable: false));

        void Stabilize(ParticipantRecord op) => member.Turn(() => participant.Stable(op.Key, from: 1));
    }

    private static long Sent(DhtWorld world) => world.Members.Sum(m => m.Dht.Counters.Sent - m.Dht.Counters.SentOf(DhtFrame.Settle));

    /// <summary>Rounds of delivery, each of everything sent before it, until the caller is answered.</summary>
    private static int Delays(DhtWorld world, Task task)
    {
        world.Poke();
        for (int delays = 0; delays < 10; delays++)
        {
            if (task.IsCompletedSuccessfully) return delays;
            foreach (var (from, to) in world.Busy())
                for (int i = world.Waiting(from, to); i > 0; i--) world.Deliver(from, to);
        }
        throw new InvalidOperationException("No answer within 10 delays.");
    }
}
