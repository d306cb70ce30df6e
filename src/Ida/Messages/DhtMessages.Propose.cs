using GroupCore.Runtime;
using Ida.Coordination;
using Ida.Kinds;
using Ida.Maps;
using Ida.Ordering;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Messages;

/// <summary>Propose: a coordinator sends the part of one shard to the participants that have to hold it. Forward: a holder hands its part on, as asked by the member that took over.</summary>
internal sealed partial class DhtMessages
{
    // Lengths of key and value, and what is done to the key.
    private const int KeyPartBytes = 5 + 5 + KeyDeed.Bytes;

    /// <summary>The head, then the number of keys var and each of them.</summary>
    public void Propose(ReadOnlySpan<int> ranks, CoordinatedOperation op, ulong ackedBelow, ulong hint, ClientOperation client, int first, int count)
    {
        int size = AttemptBytes + 42 + 3 * op.Count;
        for (int i = first; i < first + count; i++) size += client.Parts[i].KeyLength + client.Parts[i].IncomingLength + KeyPartBytes;
        var body = send.Room(size);
        ProposalHead(ref body, op.Key, op.Owner, op.Kind, client.Payload, op.Single, op.Level, ackedBelow, hint, op.Slots.AsSpan(0, op.Count));
        body.Var((ulong)count);
        for (int i = first; i < first + count; i++)
        {
            ref var part = ref client.Parts[i];
            body.Blob(client.KeyOf(i));
            op.Kind.WriteDeed(ref body, part.Deed, client.IncomingOf(i));
        }
        send.Send(ranks, DhtFrame.Propose, body.Length);
    }

    /// <summary>Attempt, flags u8 (kind, single, Ordered), the head of the kind, acknowledged below var, hint u64, the number of participants var and the slot var of each.</summary>
    private static void ProposalHead(ref BodyWriter to, in AttemptId op, int owner, OperationKind kind, ulong payload, bool single, ConsistencyLevel level, ulong ackedBelow, ulong hint, ReadOnlySpan<ushort> slots)
    {
        WriteAttempt(ref to, op, owner);
        to.U8((byte)(kind.Number | (single ? 2 : 0) | (level == ConsistencyLevel.Ordered ? 4 : 0)));
        kind.WriteHead(ref to, payload);
        to.Var(ackedBelow);
        to.U64(hint);
        to.Var((ulong)slots.Length);
        foreach (ushort slot in slots) to.Var(slot);
    }

    public void OnPropose(int from, ref BodyReader body) => OnPropose(from, from, ref body, handedOn: false);

    // If the part is handed on, its sender and the member that took over must be participants, and only a member of this shard can hold the part.
    private void OnPropose(int from, int coordinator, ref BodyReader body, bool handedOn)
    {
        var op = Participant.Records.New();
        op.Key = ReadAttempt(ref body, out op.Owner);
        op.Issued = from == coordinator && (op.Key.Payload != 0 || op.Owner == from);
        byte flags = body.U8();
        (op.Kind, op.Single, op.Level) = (OperationKind.Of(flags), (flags & 2) != 0, (flags & 4) != 0 ? ConsistencyLevel.Ordered : ConsistencyLevel.Strict);
        op.Payload = op.Kind.ReadHead(ref body);
        ulong ackedBelow = body.Var(), hint = body.U64();
        int slots = body.Count(state.Map!.SlotCount, 1);
        long before = -1;
        bool mine = false, valid = slots > 0 && op.Kind.IsWhole(op.Key, op.Payload, op.Single, slots);
        for (int i = 0; i < slots; i++)
        {
            ulong slot = body.Var();
            valid &= state.Map!.RankOfSlot((int)Math.Min(slot, int.MaxValue)) >= 0;
            // Coordinators sort slots by shard and number; checking the order shows that none occurs twice.
            long place = ((long)((uint)slot % (uint)state.Map.Shards) << 32) | (uint)slot;
            valid &= place > before;
            before = place;
            mine |= slot == (ulong)state.Slot;
            op.AddSlot((ushort)slot);
        }
        int keys = body.Count(DhtLimits.Keys, 1);
        valid &= keys > 0 && mine && ackedBelow <= op.Key.Id.Sequence && (ackedBelow == 0 || op.Owner == from);
        bool misplaced = false;
        int bytes = 0;
        for (int i = 0; i < keys && valid && !body.Failed; i++) valid = ReadKey(op, ref body, ref misplaced, ref bytes);
        bool oneShard = AllInOneShard(op);
        // The members of another shard could not know whether an expectation is met.
        for (int i = 0; i < op.UseCount; i++) valid &= !op.Uses[i].Deed.Expects || oneShard;
        op.TellsValue = oneShard && keys == 1 && op.UseCount == 1 && op.Uses[0].Deed.Effect.TellsValue;
        // An attempt without the hash of its pairs may come only from its issuer: another member could give it other pairs.
        if (valid && body.Complete && !(handedOn ? ShardOfRank(from) == state.Shard && Participant.TakesPart(from, op) && Participant.TakesPart(coordinator, op) : op.Key.Payload != 0 || op.Owner == from))
        {
            Participant.Discard(op);
            Refuse(RefusalReason.NotEntitled);
            return;
        }
        if (valid && body.Complete && misplaced)
        {
            Participant.Refuse(op, coordinator, keys, RejectReason.Misplaced);
            return;
        }
        if (valid && body.Complete && DistinctKeys(op))
        {
            Participant.Propose(op, coordinator, hint, ackedBelow);
            return;
        }
        Participant.Discard(op);
        Refuse(RefusalReason.Malformed);
    }

    private bool ReadKey(ParticipantRecord op, ref BodyReader body, ref bool misplaced, ref int bytes)
    {
        var key = body.Blob(DhtLimits.KeyBytes);
        if (!op.Kind.TryReadDeed(ref body, out var deed, out var incoming) || body.Failed || key.Length < KeyIdentity.MapBytes) return false;
        // The same bound as for callers, so that any holder of the part can hand it on in one frame.
        bytes += key.Length + incoming.Length + DhtLimits.KeyCost;
        if (bytes > DhtLimits.PartBytes) return false;
        // One misplaced key is enough: the whole part is refused, and the user's code that places keys might throw for each of thousands.
        if (misplaced || !LiesHere(key, out var map, out ulong place) || !(deed.Effect.IsAgreed(map, deed.Resolver) || !state.Rules.OnlyAgreedMaps))
        {
            misplaced = true;
            return true;
        }
        var use = op.AddUse(Participant.Slice.EntryOf(key, place), deed);
        use.Incoming = deed.Effect.Brings ? incoming.ToArray() : null;
        return true;
    }

    private bool AllInOneShard(ParticipantRecord op)
    {
        foreach (ushort slot in op.Participants)
            if (state.Map!.ShardOfSlot(slot) != state.Shard) return false;
        return true;
    }

    /// <summary>
    /// Whether a key is of a map that can be used, and lies in this member's shard. Hash and shard key are the user's, so they may throw or differ between members: then the
    /// operation is refused, whichever member notices.
    /// </summary>
    private bool LiesHere(ReadOnlySpan<byte> key, out DeclaredMap map, out ulong place)
    {
        place = 0;
        map = state.Maps.Find(key)!;
        if (map is not { LackedBy: null }) return false;
        try
        {
            var bytes = key[KeyIdentity.MapBytes..];
            ulong hash = places.Hash(map, bytes);
            place = places.PlaceOf(map, hash, key);
            return places.ShardOf(hash) == state.Shard;
        }
        catch (Exception)
        {
            return false;
        }
    }

    /// <summary>Coordinators send keys in order, so equal keys are neighbours; any other order would break the queues.</summary>
    private static bool DistinctKeys(ParticipantRecord op)
    {
        for (int i = 1; i < op.UseCount; i++)
            if (op.Uses[i - 1].Entry.Key.AsSpan().SequenceCompareTo(op.Uses[i].Entry.Key) >= 0) return false;
        return true;
    }

    /// <summary>0 u8, attempt, slot u16.</summary>
    public void AskForward(int to, in AttemptId op, int owner, int targetSlot)
    {
        var body = send.Room(AttemptBytes + 4);
        body.U8(0);
        WriteAttempt(ref body, op, owner);
        body.U16((ushort)targetSlot);
        send.Send(to, DhtFrame.Forward, body.Length);
    }

    /// <summary>1 u8, rank of the member that took over u16, then a proposal.</summary>
    public void Forward(int to, int coordinator, ParticipantRecord op)
    {
        int size = AttemptBytes + 32 + 3 * op.SlotCount;
        for (int i = 0; i < op.UseCount; i++) size += op.Uses[i].Entry.Key.Length + (op.Uses[i].Incoming?.Length ?? 0) + KeyPartBytes;
        var body = send.Room(size);
        body.U8(1);
        body.U16((ushort)coordinator);
        ProposalHead(ref body, op.Key, op.Owner, op.Kind, op.Payload, false, op.Level, 0, op.Proposed, op.Participants);
        body.Var((ulong)op.UseCount);
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.Uses[i];
            body.Blob(use.Entry.Key);
            op.Kind.WriteDeed(ref body, use.Deed, use.Incoming);
        }
        send.Send(to, DhtFrame.Forward, body.Length);
    }

    public void OnForward(int from, ref BodyReader body)
    {
        if (body.U8() == 1)
        {
            int coordinator = body.U16();
            var head = body;
            if (state.Map!.SlotOfRank(coordinator) < 0) Refuse(RefusalReason.Malformed);
            // Parts are handed on only for a takeover; the part of this member's own call comes from the call itself.
            else if (coordinator == state.Rank && !Coordinator.Takeovers.TakesOver(ReadAttempt(ref head, out _))) Refuse(RefusalReason.Unexpected);
            else OnPropose(from, coordinator, ref body, handedOn: true);
            return;
        }
        var key = ReadAttempt(ref body, out _);
        int target = state.Map!.RankOfSlot(body.U16());
        if (!body.Complete || target < 0) Refuse(RefusalReason.Malformed);
        else if (target == state.Rank || Participant.Records.Find(key) is not { } op) return;
        // A part is handed on within its shard. A member of another one would take it for this member's own lie.
        else if (ShardOfRank(target) != state.Shard) Refuse(RefusalReason.NotEntitled);
        else if (!Participant.TakesPart(from, op) || !Participant.TakesPart(target, op)) Refuse(RefusalReason.Unexpected);
        else if (state.Port.Room(target) > 0) Forward(target, from, op);
    }
}
