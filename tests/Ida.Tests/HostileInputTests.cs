using GroupCore.Groups;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Shared;
using Ida.ViewChange;
using Ida.Wire;

namespace Ida.Tests;

/// <summary>Frames and contributions (links.md#malformed-input-is-counted-and-its-sender-muted): garbage is counted and has no effect.</summary>
public sealed class HostileInputTests
{
    [Fact]
    public void Random_and_mutated_frames_change_nothing_and_never_throw()
    {
        var random = new Prng(11);
        var world = DhtWorld.Founded(4);
        var put = world.Members[0].Dht.Map<string, string>("texts").PutAsync([new("a0", "x"), new("a1", "y")]).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put");
        world.Settle();
        var target = world.Members[0];
        var before = DhtWorld.Slice(target);
        long refused = Refused(target.Node);
        for (int i = 0; i < 200_000; i++)
        {
            var body = new byte[random.Next(60)];
            for (int j = 0; j < body.Length; j++) body[j] = (byte)(random.Next(3) == 0 ? random.Next(4) : random.Next(256));
            var type = (FrameType)(192 + random.Next(24));
            target.Deliver(new(type, body, world.View!.Id, 1 + random.Next(3)));
        }
        Assert.True(Refused(target.Node) > refused + 50_000);
        Assert.Equal(before.Digest, DhtWorld.Slice(target).Digest);
        world.Advance(TimeSpan.FromMilliseconds(1));
        var get = world.Members[1].Dht.Map<string, string>("texts").GetAsync("a1").AsTask();
        world.RunUntil(() => get.IsCompleted, "A read afterwards");
    }

    /// <summary>
    /// A member lies about attempts that there never were, at the next put of another member: they are refused, and the attempts that do come are not. It lies
    /// in questions of a takeover, in aborts, and in proposals that nobody can hold, in its own name or another's.
    /// </summary>
    [Theory]
    [InlineData(203)]
    [InlineData(198)]
    [InlineData(192)]
    [InlineData(205)]
    public async Task R_an_enormous_attempt_that_somebody_else_names_does_not_refuse_those_that_come(byte frame)
    {
        var world = DhtWorld.Founded(4);
        var map = world.Members[1].Dht.Map<string, long>("longs");
        var first = map.MergePairAsync("a0", 1L).AsTask();
        world.RunUntil(() => first.IsCompleted, "The first put");
        world.Settle();
        ulong next = (await first).Operation.Sequence + 2;
        foreach (int to in new[] { 0, 2 })
        {
            for (uint far = 0; far < 3; far++)
            {
                var body = new byte[128];
                var lie = new BodyWriter(body);
                if (frame == (byte)DhtFrame.Forward)
                {
                    lie.U8(1);
                    lie.U16((ushort)world.Members[1].Rank);
                }
                FrameHead.Write(ref lie, world.Members[1].Rank, new(new(0, next), uint.MaxValue - (far * 1000)));
                if (frame == (byte)DhtFrame.Recover) lie.U8(3);
                else if (frame == (byte)DhtFrame.Abort) lie.U8(1);
                else
                {
                    // One key, which lies in the other shard.
                    lie.U8(1);
                    lie.U64(77);
                    lie.Var(0);
                    lie.U64(5);
                    lie.Var(1);
                    lie.Var((ulong)to);
                    lie.Var(1);
                    lie.Blob(DhtWorld.KeyOf("ints", 0xA2, (byte)'a', (byte)'1'));
                    lie.U8(1);
                    lie.Blob([1]);
                }
                world.Members[to].Deliver(new((FrameType)frame, body[..lie.Length], world.View!.Id, world.Members[3].Rank));
            }
            Assert.Equal(0, world.Members[to].Node.Counters.Refused(RefusalReason.Malformed));
        }
        var put = map.MergePairAsync("a0", 1L).AsTask();
        world.RunUntil(() => put.IsCompleted, "The put", steps: 20);
        Assert.Equal(next, (await put).Operation.Sequence);
    }

    /// <summary>
    /// Before the issuer's own proposal comes, another member gives one of the put's replicas other values under the issuer's attempt: as its own proposal, or as one that is
    /// handed on. That member takes no part in the put, or only as a replica of another shard.
    /// </summary>
    [Theory]
    [InlineData(false, false, false)]
    [InlineData(true, false, false)]
    [InlineData(true, true, false)]
    [InlineData(false, false, true)]
    [InlineData(true, false, true)]
    [InlineData(true, true, true)]
    public async Task R_a_member_that_does_not_issue_a_put_cannot_give_its_values(bool handedOn, bool byReplica, bool elsewhere)
    {
        var world = DhtWorld.Founded(4);
        var (target, other, liar) = (world.Members[0], world.Members[2], world.Members[3]);
        byte[]? proposed = null;
        world.AtSend = (_, to, frame) => proposed = frame.Type == DhtFrame.Propose && to == target ? frame.Body : proposed;
        KeyValuePair<string, long>[] pairs = elsewhere ? [new("a0", 5L), new("a1", 7L)] : [new("a0", 5L)];
        var put = world.Members[1].Dht.Map<string, long>("longs").PutAsync(pairs).AsTask();
        world.Members[1].Turn(static () => { });
        var lie = proposed!.ToArray();
        int value = lie.AsSpan().LastIndexOf([(byte)1, (byte)5]) + 1;
        Assert.True(value > 0, Convert.ToHexString(lie));
        // Only the issuer may acknowledge, so the lie does not: that byte follows its rank, number, attempt, flags and hash.
        (lie[value], lie[13]) = (6, 0);
        // In the name of the other replica, or in the liar's own.
        int driver = byReplica ? other.Rank : liar.Rank;
        if (handedOn) lie = [1, .. BitConverter.GetBytes((ushort)driver), .. lie];
        target.Deliver(new(handedOn ? DhtFrame.Forward : DhtFrame.Propose, lie, world.View!.Id, liar.Rank));
        Assert.Null(target.Host.Current!.Participant.Records.Oldest);
        Assert.Equal(1, target.Node.Counters.Refused(RefusalReason.NotEntitled));
        world.RunUntil(() => put.IsCompleted, "The put");
        await put;
        world.Settle();
        Assert.Null(DhtWorld.Difference(target, other));
    }

    /// <summary>
    /// A member that takes no part in a put tells one of its two replicas how it ends: aborted, committed at a time of the liar's, or stable. It says so at once, or after it has
    /// asked for the attempt like a member that takes over, or after the part was handed on in its name. The put's id is of its issuer's session, or of the liar's.
    /// </summary>
    [Theory]
    [InlineData("Abort", false)]
    [InlineData("Commit", false)]
    [InlineData("Stable", false)]
    [InlineData("Recover", false)]
    [InlineData("Forward", false)]
    [InlineData("Abort", true)]
    [InlineData("Commit", true)]
    [InlineData("Stable", true)]
    [InlineData("Recover", true)]
    [InlineData("Forward", true)]
    public async Task R_a_member_that_takes_no_part_in_a_put_cannot_tell_its_end(string lie, bool named)
    {
        var world = DhtWorld.Founded(4);
        var (target, other, liar) = (world.Members[0], world.Members[2], world.Members[3]);
        // The other replica proposes a later time, so that the put is not stable with its commit.
        other.Skew = 300_000_000;
        var ahead = other.Dht.Map<string, long>("longs").GetAsync(["a0", "b0"]).AsTask();
        var put = world.Members[1].Dht.Map<string, long>("longs").PutAsync("a0", 5L, new() { Operation = named ? new(liar.Host.Current!.State.Session, DhtWorld.Named) : null }).AsTask();
        world.Poke();
        Assert.True(ahead.IsCompletedSuccessfully);
        world.DeliverAll(static (from, _) => from == 1);
        if (lie == "Stable")
        {
            world.DeliverAll(static (_, to) => to == 1);
            world.DeliverUntil(1, 0, DhtFrame.Commit);
        }
        var held = target.Host.Current!.Participant.Records.Oldest!;
        var (key, generation) = (held.Key, held.Generation);
        if (lie == "Recover") Lie(target, DhtFrame.Recover, 1);
        if (lie == "Forward")
        {
            Lie(other, DhtFrame.Forward, (byte)target.Host.Current!.State.Slot, 0);
            world.DeliverAll(static (from, _) => from == 2);
        }
        if (lie == "Stable") Lie(target, DhtFrame.Stable);
        else if (lie == "Commit") Lie(target, DhtFrame.Commit, [.. BitConverter.GetBytes(held.Proposed + 1), 2]);
        else Lie(target, DhtFrame.Abort, 1);
        Assert.Equal((generation, lie == "Stable", false), (held.Generation, held.Committed, held.Stable));
        Assert.Equal(lie is "Recover" ? 2 : 1, target.Node.Counters.Refused(RefusalReason.Unexpected));
        Assert.Equal(lie is "Forward" ? 1 : 0, other.Node.Counters.Refused(RefusalReason.Unexpected));
        world.RunUntil(() => put.IsCompleted, "The put");
        Assert.Single((await put).Versions);
        world.Settle();
        Assert.Null(DhtWorld.Difference(target, other));

        void Lie(HarnessMember to, FrameType type, params byte[] rest)
        {
            var body = new byte[64];
            var frame = new BodyWriter(body);
            if (type == DhtFrame.Forward) frame.U8(0);
            FrameHead.Write(ref frame, world.Members[named ? 3 : 1].Rank, key);
            to.Deliver(new(type, [.. body[..frame.Length], .. rest], world.View!.Id, liar.Rank));
        }
    }

    /// <summary>A participant asks one of another shard to hand its part on to the asker's own shard. Who gets such a part takes it for a lie of the member that handed it on, and mutes that one in the end.</summary>
    [Fact]
    public async Task R_a_part_is_not_handed_on_to_another_shard_whoever_asks()
    {
        var world = DhtWorld.Founded(4);
        var (target, liar) = (world.Members[0], world.Members[3]);
        var put = world.Members[1].Dht.Map<string, long>("longs").PutAsync([new("a0", 5L), new("a1", 7L)]).AsTask();
        world.Poke();
        world.DeliverAll(static (from, _) => from == 1);
        var held = target.Host.Current!.Participant.Records.Oldest!;
        var body = new byte[64];
        var frame = new BodyWriter(body);
        frame.U8(0);
        FrameHead.Write(ref frame, world.Members[1].Rank, held.Key);
        frame.U16((ushort)liar.Host.Current!.State.Slot);
        target.Deliver(new(DhtFrame.Forward, body[..frame.Length], world.View!.Id, liar.Rank));
        Assert.Equal(1, target.Node.Counters.Refused(RefusalReason.NotEntitled));
        world.RunUntil(() => put.IsCompleted, "The put");
        await put;
        Assert.All(world.Members, one => Assert.Equal(one == target ? 1 : 0, one.Node.Counters.Refused(RefusalReason.NotEntitled)));
    }

    /// <summary>
    /// The part of a put is larger than any member may send, and handing it on could take more than a frame. A participant that took it would take over the put, or is asked at
    /// once to hand its part on.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void R_a_part_that_is_larger_than_its_bound_is_refused(bool forward)
    {
        var world = DhtWorld.Founded(4);
        var (target, liar) = (world.Members[0], world.Members[3]);
        var key = new AttemptId(new(0, 1), 1);
        var body = new byte[(1 << 20) - 12];
        var lie = new BodyWriter(body);
        FrameHead.Write(ref lie, liar.Rank, key);
        lie.U8(1);
        lie.U64(77);
        lie.Var(0);
        lie.U64(5);
        lie.Var(2);
        lie.Var(0);
        lie.Var(2);
        lie.Var(4);
        for (byte i = 1; i <= 4; i++)
        {
            lie.Blob(DhtWorld.KeyOf("ints", i, (byte)'0'));
            lie.U8(1);
            lie.Blob(new byte[i < 4 ? 256 << 10 : body.Length - lie.Length - 3]);
        }
        Assert.Equal(body.Length, lie.Length);
        target.Deliver(new(DhtFrame.Propose, body, world.View!.Id, liar.Rank));
        if (forward)
        {
            lie = new(body);
            lie.U8(0);
            FrameHead.Write(ref lie, liar.Rank, key);
            lie.U16(2);
            target.Deliver(new(DhtFrame.Forward, body[..lie.Length], world.View!.Id, liar.Rank));
        }
        for (int i = 0; i < 100; i++)
        {
            world.Advance(TimeSpan.FromMilliseconds(20));
            world.DeliverAll();
        }
        Assert.Equal(1, target.Node.Counters.Refused(RefusalReason.Malformed));
        Assert.Equal(0, target.Host.Current!.Participant.Records.Count);
        var put = target.Dht.Map<string, string>("texts").PutAsync([new("a0", "x"), new("a1", "y")]).AsTask();
        world.RunUntil(() => put.IsCompletedSuccessfully, "A put afterwards");
    }

    [Fact]
    public void Mutated_contributions_give_a_decision_or_are_left_out_and_never_throw()
    {
        var random = new Prng(12);
        var world = DhtWorld.Founded(4);
        _ = world.Members[1].Dht.Map<string, int>("ints").PutAsync("a0", 1).AsTask();
        world.Members[1].Turn(static () => { });
        world.DeliverAll((from, _) => from == 1);
        var good = world.Members.ConvertAll(m => m.Contribution());
        for (int i = 0; i < 50_000; i++)
        {
            var contributions = new List<LayerContribution>();
            for (int m = 0; m < 4; m++)
            {
                var bytes = good[m].ToArray();
                if (random.Next(2) == 0)
                    for (int k = random.Next(4); k >= 0; k--) bytes[random.Next(bytes.Length)] = (byte)random.Next(256);
                if (random.Next(8) == 0) bytes = bytes[..random.Next(bytes.Length)];
                contributions.Add(new(world.Members[m].Self, bytes));
            }
            _ = Decision.Decide(contributions, world.View!);
        }
    }

    [Fact]
    public void A_member_that_names_a_put_twice_holds_it_once()
    {
        var world = DhtWorld.Founded(4);
        _ = world.Members[1].Dht.Map<string, int>("ints").PutAsync("a0", 1).AsTask();
        world.Members[1].Turn(static () => { });
        world.Deliver(1, 0);
        var op = world.Members[0].Host.Current!.Participant.Records.Oldest!;
        var (key, participants) = (op.Key, op.Participants.ToArray());
        var contributions = world.Members.ConvertAll(m => new LayerContribution(m.Self, m.Contribution()));
        Assert.False(Decision.Decide(contributions, world.View!).TryCommit(key, participants, out _));
        var twice = Contribution.Read(world.Members[0].Self, contributions[0].Bytes.Span)!;
        twice.Unsettled.Add(twice.Unsettled[0]);
        contributions[0] = new(world.Members[0].Self, Bytes(twice));
        Assert.False(Decision.Decide(contributions, world.View!).TryCommit(key, participants, out _));
    }

    /// <summary>
    /// One of two replicas holds a put, so nobody was told that it is done. At the view change a member of the other shard names it, with the participants that it has,
    /// with itself in addition, with itself alone, or with none; first or last, and as committed or not.
    /// </summary>
    [Theory]
    [InlineData(new ushort[] { 0, 2 })]
    [InlineData(new ushort[] { 0, 2, 3 })]
    [InlineData(new ushort[] { 3 })]
    [InlineData(new ushort[0])]
    public void R_a_member_that_takes_no_part_in_a_put_cannot_claim_to_hold_it(ushort[] participants)
    {
        var world = DhtWorld.Founded(4);
        _ = world.Members[1].Dht.Map<string, int>("ints").PutAsync("a0", 1).AsTask();
        world.Members[1].Turn(static () => { });
        world.Deliver(1, 0);
        var op = world.Members[0].Host.Current!.Participant.Records.Oldest!;
        var contributions = world.Members.ConvertAll(m => new LayerContribution(m.Self, m.Contribution()));
        foreach (ulong time in (ulong[])[0, op.Proposed + 1])
        {
            var lie = Contribution.Read(world.Members[3].Self, contributions[3].Bytes.Span)!;
            lie.Unsettled.Add(new(op.Key, op.Proposed, time, participants));
            var liar = new LayerContribution(lie.Member, Bytes(lie));
            Assert.False(Decision.Decide([.. contributions[..3], liar], world.View!).TryCommit(op.Key, op.Participants, out _));
            Assert.False(Decision.Decide([liar, .. contributions[..3]], world.View!).TryCommit(op.Key, op.Participants, out _));
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void A_contribution_with_a_time_that_no_clock_reaches_is_none(int which)
    {
        var world = DhtWorld.Founded(4);
        var good = Contribution.Read(world.Members[0].Self, world.Members[0].Contribution())!;
        const ulong beyond = HybridClock.MaxTime + 1;
        var bad = new Contribution
        {
            Config = good.Config, Maps = good.Maps, Enabled = true, Session = good.Session, Incarnation = good.Incarnation, Slot = 0, Initialised = true,
            Physical = which == 0 ? beyond : 1, Committed = which == 1 ? beyond : 1,
        };
        bad.Unsettled.Add(new(new(new(5, 1), 1), which == 2 ? beyond : 1, which == 3 ? beyond : 0, [0]));
        Assert.Null(Contribution.Read(world.Members[0].Self, Bytes(bad)));
    }

    /// <summary>A member says at a view change that another's session is its own. Then it says, in its own name, that nobody waits for that session's puts any more.</summary>
    [Fact]
    public void R_a_member_that_says_anothers_session_is_its_own_ends_none_of_its_puts()
    {
        const int Liar = 0, Replica = 1, Victim = 3;
        var world = DhtWorld.Founded(4);
        UInt128 session = world.Members[Victim].Host.Current!.State.Session;
        world.Lies = (member, bytes) =>
        {
            if (member.Index != Liar) return bytes;
            var said = Contribution.Read(member.Self, bytes)!;
            return Bytes(new()
            {
                Config = said.Config, Maps = said.Maps, Enabled = true, Session = session, Incarnation = said.Incarnation, Admitted = said.Admitted, Slot = said.Slot, Initialised = true,
                Physical = said.Physical, Committed = said.Committed,
            });
        };
        world.ChangeView();
        world.Lies = null;
        var to = new BodyWriter(new byte[100]);
        FrameHead.Write(ref to, world.Members[Liar].Rank, new(new(0, 1UL << 20), 1));
        to.U8(1);
        to.U64(77);
        to.Var(1UL << 20);
        to.U64(5);
        to.Var(1);
        to.Var((ulong)world.Members[Replica].Host.Current!.State.Slot);
        to.Var(1);
        to.Blob(DhtWorld.KeyOf("ints", 0, (byte)world.Members[Replica].Host.Current!.State.Shard));
        to.U8(1);
        to.Blob("lie"u8);
        world.Members[Replica].Deliver(new(DhtFrame.Propose, to.Written.ToArray(), world.View!.Id, world.Members[Liar].Rank));
        Assert.Equal(1, world.Members[Replica].Host.Current!.Participant.Records.Count);
        var put = world.Members[Victim].Dht.Map<string, int>("ints").PutAsync("a1", 1).AsTask();
        for (int i = 0; i < 100; i++)
        {
            world.Advance(TimeSpan.FromMilliseconds(10));
            world.DeliverAll();
        }
        Assert.True(put.IsCompletedSuccessfully, put.Exception?.ToString() ?? "The call has not ended.");
        Assert.All(world.Members, member => Assert.Equal(world.Members[Victim].Rank, member.Host.Current!.State.OwnerOf(session)));
    }

    private static byte[] Bytes(Contribution contribution)
    {
        var into = new System.Buffers.ArrayBufferWriter<byte>();
        contribution.Write(into);
        return into.WrittenSpan.ToArray();
    }

    private static long Refused(INode node) => Enum.GetValues<RefusalReason>().Sum(node.Counters.Refused);
}
