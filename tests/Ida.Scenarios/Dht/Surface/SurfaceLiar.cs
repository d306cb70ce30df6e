using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Kinds;
using Ida.Ordering;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Scenarios;

/// <summary>
/// A member that lies in its own name: it sends frames about operations under way that have bytes too many or too few; or answers about puts that only a read may have; or proposals that the receiver holds already, with another
/// effect or expectation. The receiver must refuse each lie or be unmoved by it; nothing that is judged may change.
/// </summary>
internal sealed class SurfaceLiar(DhtWorld world, Prng random)
{
    private static readonly FrameType[] Types =
    [
        DhtFrame.Propose, DhtFrame.Proposed, DhtFrame.Commit, DhtFrame.Quiescent, DhtFrame.Stable, DhtFrame.Executed, DhtFrame.Abort, DhtFrame.Aborted, DhtFrame.Rejected,
        DhtFrame.Recover, DhtFrame.NotHeld, DhtFrame.Forward, DhtFrame.AskEnd, DhtFrame.End,
    ];

    private readonly byte[] _room = new byte[(1 << 20) - 12];

    /// <summary>Sends a lie now and then, and tells which; null if it sent none.</summary>
    public string? Lie()
    {
        if (random.Next(8) != 0) return null;
        var able = world.Members.FindAll(m => m.InView && !m.Wedged && !world.IsStalled(m) && m.Host.Current is { IsOver: false, State: { Acts: true, Map: not null } });
        if (able.Count < 2) return null;
        var target = able[random.Next(able.Count)];
        var from = able[random.Next(able.Count)];
        var layer = target.Host.Current!;
        if (from == target || layer.State.Map!.SlotOfRank(from.Rank) < 0) return null;
        if (random.Next(6) == 0 && Repeat(target, able)) return SurfaceNames.LiarRepeats;
        var keys = layer.Coordinator.Attempts.All.Keys.ToList();
        for (var op = layer.Participant.Records.Oldest; op is not null; op = op.Newer) keys.Add(op.Key);
        if (keys.Count == 0) return null;
        var about = keys[random.Next(keys.Count)];
        if (random.Next(16) == 0) return Forge(target, from, about) ? SurfaceNames.Liar : null;
        var type = Types[random.Next(Types.Length)];
        if (type == DhtFrame.End) AnswerForOwner(layer, able, ref from, ref about);
        var body = Write(type, about, from.Rank, layer, out bool read);
        long before = target.Node.Counters.Refused(RefusalReason.Malformed);
        target.Deliver(new(type, body, target.View!.Id, from.Rank));
        if (read && target.Node.Counters.Refused(RefusalReason.Malformed) != before + 1) throw new ScenarioFailedException($"m{target.Index} took a frame {(byte)type} of {body.Length} bytes that it must refuse: {Convert.ToHexString(body)}.");
        return SurfaceNames.Liar;
    }

    /// <summary>Makes the liar the member of a session that is being asked how one of its puts ended.</summary>
    private void AnswerForOwner(DhtLayer layer, List<HarnessMember> able, ref HarnessMember from, ref AttemptId about)
    {
        var asking = layer.Coordinator.Standing().Select(static one => one.Op).Where(static op => op.Asks).ToList();
        if (asking.Count == 0) return;
        var asks = asking[random.Next(asking.Count)];
        if (able.Find(member => member.Rank == layer.State.OwnerOf(asks.Id.Session)) is not { } owner || owner.Rank == layer.State.Rank) return;
        (from, about) = (owner, new(asks.Id, asks.Attempt, asks.Payload));
    }

    /// <summary>
    /// Repeats a proposal of a put that the target holds, from a member that may send it, or handed on by a member of its shard; but one key has another effect or expectation.
    /// The target must take the frame as well-formed, and keep what was proposed first: that is the put's own, since the hash of its pairs names it.
    /// </summary>
    private bool Repeat(HarnessMember target, List<HarnessMember> able)
    {
        var layer = target.Host.Current!;
        var (state, participant) = (layer.State, layer.Participant);
        var held = new List<ParticipantRecord>();
        for (var one = participant.Records.Oldest; one is not null; one = one.Newer)
            if (one.Kind.Changes) held.Add(one);
        if (held.Count == 0) return false;
        var op = held[random.Next(held.Count)];
        bool handsOn = random.Next(2) == 0;
        var may = able.FindAll(member => member != target && state.Map!.SlotOfRank(member.Rank) >= 0 && (handsOn
            ? participant.TakesPart(member.Rank, op) && state.Map.ShardOfSlot(state.Map.SlotOfRank(member.Rank)) == state.Shard
            : op.Key.Payload != 0 || op.Owner == member.Rank));
        if (may.Count == 0) return false;
        var from = may[random.Next(may.Count)];
        var to = new BodyWriter(_room);
        if (handsOn)
        {
            to.U8(1);
            to.U16((ushort)from.Rank);
        }
        FrameHead.Write(ref to, op.Owner, op.Key);
        to.U8((byte)(1 | (op.Level == ConsistencyLevel.Ordered ? 4 : 0)));
        to.U64(op.Payload);
        to.Var(0);
        to.U64(5);
        to.Var((ulong)op.SlotCount);
        bool oneShard = true;
        foreach (ushort slot in op.Participants)
        {
            to.Var(slot);
            oneShard &= state.Map!.ShardOfSlot(slot) == state.Shard;
        }
        to.Var((ulong)op.UseCount);
        int other = random.Next(op.UseCount);
        for (int i = 0; i < op.UseCount; i++) WriteKey(ref to, op.Uses[i], i == other, oneShard);
        var before = Enumerable.Range(0, op.UseCount).Select(i => Of(op.Uses[i])).ToList();
        int generation = op.Generation;
        long malformed = target.Node.Counters.Refused(RefusalReason.Malformed);
        target.Deliver(new(handsOn ? DhtFrame.Forward : DhtFrame.Propose, to.Written.ToArray(), target.View!.Id, from.Rank));
        if (target.Node.Counters.Refused(RefusalReason.Malformed) != malformed) throw new ScenarioFailedException($"m{target.Index} refused a proposal that is whole: {Convert.ToHexString(to.Written)}.");
        if (op.Generation == generation && !before.SequenceEqual(Enumerable.Range(0, op.UseCount).Select(i => Of(op.Uses[i])))) throw new ScenarioFailedException($"m{target.Index} holds {op.Key} with pairs of another proposal.");
        if (op.Generation == generation && participant.Records.Find(op.Key) is { } now && now != op) throw new ScenarioFailedException($"m{target.Index} holds {op.Key} twice.");
        return true;

        static (KeyDeed, byte[]?) Of(KeyUse use) => (use.Deed, use.Incoming);
    }

    /// <summary>One key as it was proposed, or with another effect or expectation.</summary>
    private void WriteKey(ref BodyWriter to, KeyUse use, bool changed, bool mayExpect)
    {
        var deed = use.Deed;
        if (changed && mayExpect && random.Next(2) == 0)
        {
            bool forgets = deed.Expects && deed.Effect != KeyEffect.Check && random.Next(2) == 0;
            deed = forgets ? deed with { Expects = false, Expected = 0 } : deed with { Expects = true, Expected = deed.Expects ? deed.Expected + 1 : (ulong)random.Next(2) };
        }
        else if (changed) deed = deed with { Effect = deed.Effect == KeyEffect.Remove ? KeyEffect.Put : KeyEffect.Remove };
        to.Blob(use.Entry.Key);
        deed.Write(ref to, use.Incoming);
    }

    /// <summary>
    /// Sends a well-formed proposal whose part is larger than any may be; or hands a part on to a member that coordinates the operation itself, or has nothing to do with it. The
    /// target must refuse either.
    /// </summary>
    private bool Forge(HarnessMember target, HarnessMember from, in AttemptId key)
    {
        var layer = target.Host.Current!;
        bool large = random.Next(2) == 0;
        if (!large && layer.Coordinator.Takeovers.TakesOver(key)) return false;
        var to = new BodyWriter(_room);
        if (!large)
        {
            to.U8(1);
            to.U16((ushort)target.Rank);
        }
        FrameHead.Write(ref to, layer.State.OwnerOf(key.Id.Session), key);
        to.U8(1);
        to.U64(key.Payload == 0 ? 77 : key.Payload);
        to.Var(0);
        to.U64(5);
        to.Var(1);
        to.Var((ulong)layer.State.Slot);
        to.Var(4);
        for (byte i = 1; i <= 4; i++)
        {
            to.Blob(DhtWorld.KeyOf(SurfaceDriver.Values[0], i, (byte)layer.State.Shard));
            to.U8(1);
            to.Blob(new byte[!large ? 1 : i < 4 ? 256 << 10 : _room.Length - to.Length - 3]);
        }
        var refusal = large ? RefusalReason.Malformed : RefusalReason.Unexpected;
        long before = target.Node.Counters.Refused(refusal);
        target.Deliver(new(large ? DhtFrame.Propose : DhtFrame.Forward, to.Written.ToArray(), target.View!.Id, from.Rank));
        if (target.Node.Counters.Refused(refusal) != before + 1) throw new ScenarioFailedException($"m{target.Index} took a part of {to.Length} bytes that nobody may send it.");
        return true;
    }

    /// <summary>A valid frame with bytes behind its end, or without its end; or a whole one that says of a put that its result is too large. Results and answers that nobody waits for are not <paramref name="read"/>.</summary>
    private byte[] Write(FrameType type, in AttemptId key, int from, DhtLayer layer, out bool read)
    {
        var to = new BodyWriter(_room);
        if (type == DhtFrame.Forward) to.U8(0);
        FrameHead.Write(ref to, layer.State.OwnerOf(key.Id.Session), key);
        int head = to.Length;
        bool answers = type == DhtFrame.Proposed || type == DhtFrame.Quiescent, driven = layer.Coordinator.Attempts.TryFind(key, from, out var running, out _);
        bool results = answers && random.Next(4) != 0, tooLarge = results && random.Next(8) == 0;
        if (answers || type == DhtFrame.Commit)
        {
            to.U64(1 + random.NextUInt64() % 1_000_000);
            to.U8((byte)(type == DhtFrame.Commit ? random.Next(4) : random.Next(2) | (results ? 2 : 0) | (tooLarge ? 4 : 0)));
        }
        int fixedLength = to.Length;
        bool isShort = !answers && type != DhtFrame.Executed && type != DhtFrame.End && type != DhtFrame.Forward && type != DhtFrame.Propose && type != DhtFrame.Commit;
        if (type == DhtFrame.Executed || (results && !tooLarge)) Results(ref to, random.Next(4), put: type == DhtFrame.Executed || !driven || running.Kind.Changes);
        else if (type == DhtFrame.End) End(ref to);
        else if (type == DhtFrame.Forward) to.U16((ushort)random.Next(8));
        else if (type == DhtFrame.Propose) to.U8((byte)random.Next(8));
        else if (isShort && type != DhtFrame.AskEnd && type != DhtFrame.Stable && type != DhtFrame.Aborted) to.U8(0);
        if (tooLarge && driven && running.Kind.Changes && random.Next(2) == 0)
        {
            // A whole frame: but what a shard answers about a put is never too large.
            read = true;
            return to.Written.ToArray();
        }
        if (random.Next(3) == 0)
        {
            int cut = random.Next(isShort || random.Next(2) != 0 ? to.Length : head);
            read = IsRead(layer, type, key, from, cut >= head, !results || driven || cut < fixedLength);
            return _room[..cut];
        }
        for (int i = 1 + random.Next(3); i > 0; i--) to.U8(255);
        read = IsRead(layer, type, key, from, hasHead: true, !results || driven);
        return to.Written.ToArray();
    }

    private static bool IsRead(DhtLayer layer, FrameType type, in AttemptId key, int from, bool hasHead, bool otherwise) =>
        type == DhtFrame.End ? hasHead && layer.Coordinator.TryAsking(from, key, out _) : otherwise;

    private void End(ref BodyWriter to)
    {
        int count = random.Next(4);
        to.U8((byte)random.Next(6));
        to.Var((ulong)count);
        for (int i = 0; i < count; i++)
        {
            to.Var(999);
            PutReportCodec.Write(ref to, DrawReport(count));
        }
    }

    private void Results(ref BodyWriter to, int count, bool put)
    {
        to.Var((ulong)count);
        for (int i = 0; i < count; i++)
        {
            to.Var(999);
            if (put) continue;
            bool found = random.Next(2) == 0;
            to.U8(found ? (byte)1 : (byte)0);
            if (found) to.Blob("lie"u8);
        }
        if (put && count > 0) PutReportCodec.Write(ref to, DrawReport(count));
    }

    // Each verdict, with what it tells; most puts tell nothing.
    private PutReport? DrawReport(int count) => random.Next(6) switch
    {
        0 => new(Verdict.NotMet, random.Next(count), null, null),
        1 => new(Verdict.Failed, random.Next(count), new('l', random.Next(DhtLimits.ErrorChars)), null),
        2 => new(Verdict.Applied, 0, null, null),
        3 => new(Verdict.Applied, 0, null, new byte[random.Next(100)]),
        _ => null,
    };
}
