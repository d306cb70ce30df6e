using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Ordering;
using Ida.Wire;

namespace Ida.Scenarios;

/// <summary>
/// A member that sends, in its own name, frames that are not what they should be to the last byte, about operations that are under way. Each is
/// refused by who gets it, and changes nothing of what is judged.
/// </summary>
internal sealed class SurfaceLiar(DhtWorld world, Prng random)
{
    private static readonly FrameType[] Types =
    [
        DhtFrame.Propose, DhtFrame.Proposed, DhtFrame.Commit, DhtFrame.Quiescent, DhtFrame.Stable, DhtFrame.Executed, DhtFrame.Abort, DhtFrame.Aborted, DhtFrame.Rejected,
        DhtFrame.Recover, DhtFrame.NotHeld, DhtFrame.Forward, DhtFrame.AskEnd,
    ];

    private readonly byte[] _room = new byte[(1 << 20) - 12];

    /// <summary>Sends one; false where nobody is there to lie to.</summary>
    public bool Lie()
    {
        if (random.Next(8) != 0) return false;
        var able = world.Members.FindAll(m => m.InView && !m.Wedged && !world.IsStalled(m) && m.Host.Current is { IsOver: false, State: { Acts: true, Map: not null } });
        if (able.Count < 2) return false;
        var target = able[random.Next(able.Count)];
        var from = able[random.Next(able.Count)];
        var layer = target.Host.Current!;
        if (from == target || layer.State.Map!.SlotOfRank(from.Rank) < 0) return false;
        var keys = layer.Coordinator.Driven.Keys.ToList();
        for (var op = layer.Participant.Oldest; op is not null; op = op.Newer) keys.Add(op.Key);
        if (keys.Count == 0) return false;
        var about = keys[random.Next(keys.Count)];
        if (random.Next(16) == 0) return Forge(target, from, about);
        var type = Types[random.Next(Types.Length)];
        var body = Write(type, about, layer.State);
        long before = target.Node.Counters.Refused(RefusalReason.Malformed);
        target.Deliver(new(type, body, target.View!.Id, from.Rank));
        // Of results of an attempt that nobody drives nothing is read.
        bool read = (type != DhtFrame.Proposed && type != DhtFrame.Quiescent) || body.Length < 5;
        if (read && target.Node.Counters.Refused(RefusalReason.Malformed) != before + 1) throw new ScenarioFailedException($"m{target.Index} took a frame {(byte)type} of {body.Length} bytes that is not whole: {Convert.ToHexString(body)}.");
        return true;
    }

    /// <summary>
    /// A proposal that is whole, and whose part is larger than any may be; or a part that is handed on to who coordinates the operation itself, or has nothing
    /// to do with it.
    /// </summary>
    private bool Forge(HarnessMember target, HarnessMember from, in AttemptId key)
    {
        var layer = target.Host.Current!;
        bool large = random.Next(2) == 0;
        if (!large && layer.Coordinator.TakesOver(key)) return false;
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
            to.Blob((byte[])[1, 2, 3, 4, 5, 6, 7, 8, i, (byte)layer.State.Shard]);
            to.U8(1);
            to.Blob(new byte[!large ? 1 : i < 4 ? 256 << 10 : _room.Length - to.Length - 3]);
        }
        var refusal = large ? RefusalReason.Malformed : RefusalReason.Unexpected;
        long before = target.Node.Counters.Refused(refusal);
        target.Deliver(new(large ? DhtFrame.Propose : DhtFrame.Forward, to.Written.ToArray(), target.View!.Id, from.Rank));
        if (target.Node.Counters.Refused(refusal) != before + 1) throw new ScenarioFailedException($"m{target.Index} took a part of {to.Length} bytes that nobody may send it.");
        return true;
    }

    /// <summary>The frame as it may be, and bytes behind its end; or without its end.</summary>
    private byte[] Write(FrameType type, in AttemptId key, DhtState state)
    {
        var to = new BodyWriter(_room);
        if (type == DhtFrame.Forward) to.U8(0);
        FrameHead.Write(ref to, state.OwnerOf(key.Id.Session), key);
        int head = to.Length;
        if (type == DhtFrame.Proposed || type == DhtFrame.Quiescent || type == DhtFrame.Commit)
        {
            to.U64(1 + random.NextUInt64() % 1_000_000);
            to.U8((byte)(type == DhtFrame.Commit ? random.Next(4) : random.Next(8)));
        }
        if (type == DhtFrame.Proposed || type == DhtFrame.Quiescent || type == DhtFrame.Executed) Results(ref to);
        if (type == DhtFrame.Forward) to.U16((ushort)random.Next(8));
        if (type == DhtFrame.Propose) to.U8((byte)random.Next(8));
        // Those of an operation and at most one byte.
        if (type != DhtFrame.Proposed && type != DhtFrame.Quiescent && type != DhtFrame.Commit && type != DhtFrame.Executed && type != DhtFrame.Forward && type != DhtFrame.Propose && type != DhtFrame.AskEnd) to.U8(0);
        if (random.Next(3) == 0) return _room[..random.Next(head)];
        for (int i = 1 + random.Next(3); i > 0; i--) to.U8(255);
        return to.Written.ToArray();
    }

    private void Results(ref BodyWriter to)
    {
        int count = random.Next(4);
        to.Var((ulong)count);
        for (int i = 0; i < count; i++)
        {
            to.Var(999);
            to.Blob("lie"u8);
        }
    }
}
