using GroupCore.Runtime;
using Ida.Coordination;
using Ida.Maps;
using Ida.Ordering;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Messages;

/// <summary>Propose: a coordinator names the part of one shard to the participants that have to hold it. Forward: a holder hands its part on, at the word of the member that took over.</summary>
internal sealed partial class DhtMessages
{
    /// <summary>In the byte of a key's effect: an expected version follows.</summary>
    public const byte Expectation = 0x80;

    // Lengths of key and value, effect, expected version, resolver.
    private const int KeyPartBytes = 5 + 5 + 1 + 10 + 8;

    /// <summary>The head, then the number of keys var and each of them.</summary>
    public void Propose(ReadOnlySpan<int> ranks, CoordinatedOperation op, ulong ackedBelow, ulong hint, ClientOperation client, int first, int count)
    {
        int size = AttemptBytes + 42 + 3 * op.Count;
        for (int i = first; i < first + count; i++) size += client.Parts[i].KeyLength + client.Parts[i].IncomingLength + KeyPartBytes;
        var body = send.Room(size);
        ProposalHead(ref body, op.Key, op.Owner, op.IsPut, client.Payload, op.Single, op.Level, ackedBelow, hint, op.Slots.AsSpan(0, op.Count));
        body.Var((ulong)count);
        for (int i = first; i < first + count; i++)
        {
            ref var part = ref client.Parts[i];
            KeyPart(ref body, client.KeyOf(i), part.Effect, client.IncomingOf(i), part.Resolver, part.Expects, part.Expected);
        }
        send.Send(ranks, DhtFrame.Propose, body.Length);
    }

    /// <summary>Attempt, flags u8 (put, single, Ordered), of a put its payload u64; acknowledged below var, hint u64, the number of participants var and the slot var of each.</summary>
    private static void ProposalHead(ref BodyWriter to, in AttemptId op, int owner, bool put, ulong payload, bool single, ConsistencyLevel level, ulong ackedBelow, ulong hint, ReadOnlySpan<ushort> slots)
    {
        WriteAttempt(ref to, op, owner);
        to.U8((byte)((put ? 1 : 0) | (single ? 2 : 0) | (level == ConsistencyLevel.Ordered ? 4 : 0)));
        if (put) to.U64(payload);
        to.Var(ackedBelow);
        to.U64(hint);
        to.Var((ulong)slots.Length);
        foreach (ushort slot in slots) to.Var(slot);
    }

    /// <summary>Key; of a put the effect u8 with a bit for an expectation, expected version var, value, resolver u64, each where there is one.</summary>
    private static void KeyPart(ref BodyWriter to, ReadOnlySpan<byte> key, KeyEffect effect, ReadOnlySpan<byte> value, ulong resolver, bool expects, ulong expected)
    {
        to.Blob(key);
        if (effect == KeyEffect.Read) return;
        to.U8((byte)((byte)effect | (expects ? Expectation : 0)));
        if (expects) to.Var(expected);
        if (effect is KeyEffect.Put or KeyEffect.Merge) to.Blob(value);
        if (effect == KeyEffect.Merge) to.U64(resolver);
    }

    // A part that is handed on: its sender and the member that took over must be participants, and only a member of this shard can hold the part.
    private void OnPropose(int from, int coordinator, ref BodyReader body, bool handedOn = false)
    {
        var op = Participant.NewRecord();
        op.Key = ReadAttempt(ref body, out op.Owner);
        op.Issued = from == coordinator && (op.Key.Payload != 0 || op.Owner == from);
        byte flags = body.U8();
        (op.IsPut, op.Single, op.Level) = ((flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0 ? ConsistencyLevel.Ordered : ConsistencyLevel.Strict);
        op.Payload = op.IsPut ? body.U64() : 0;
        ulong ackedBelow = body.Var(), hint = body.U64();
        int slots = body.Count(state.Map!.SlotCount, 1);
        long before = -1;
        bool mine = false, valid = slots > 0 && !(op.Single && (op.IsPut || slots != 1)) && (op.IsPut ? op.Payload != 0 && (op.Key.Payload == 0 || op.Key.Payload == op.Payload) : op.Key.Payload == 0);
        for (int i = 0; i < slots; i++)
        {
            ulong slot = body.Var();
            valid &= state.Map!.RankOfSlot((int)Math.Min(slot, int.MaxValue)) >= 0;
            // Coordinators sort slots by shard and number: so none can occur twice.
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
        for (int i = 0; i < op.UseCount; i++) valid &= !op.Uses[i].Expects || oneShard;
        op.TellsValue = oneShard && keys == 1 && op.UseCount == 1 && op.Uses[0].Effect == KeyEffect.Merge;
        // An attempt without the hash of its pairs may come from its issuer only: another member could give it other pairs.
        if (valid && body.Complete && !(handedOn ? ShardOfRank(from) == state.Shard && Participant.TakesPart(from, op) && Participant.TakesPart(coordinator, op) : op.Key.Payload != 0 || op.Owner == from))
        {
            Participant.Discard(op);
            Refuse(RefusalReason.Unexpected);
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
        byte kind = op.IsPut ? body.U8() : (byte)0;
        bool expects = (kind & Expectation) != 0;
        var effect = (KeyEffect)(kind & ~Expectation);
        ulong expected = expects ? body.Var() : 0;
        bool brings = effect is KeyEffect.Put or KeyEffect.Merge;
        var value = brings ? body.Blob(DhtLimits.ValueBytes) : default;
        ulong resolver = effect == KeyEffect.Merge ? body.U64() : 0;
        if (body.Failed || key.Length < KeyIdentity.MapBytes || effect > KeyEffect.Check || op.IsPut == (effect == KeyEffect.Read) || (effect == KeyEffect.Check && !expects)) return false;
        // The same bound as for callers: so any holder of the part can hand it on in one frame.
        bytes += key.Length + value.Length + DhtLimits.KeyCost;
        if (bytes > DhtLimits.PartBytes) return false;
        // One is enough: the whole is refused, and the user's code that places keys may throw for each of thousands.
        if (misplaced || !LiesHere(key, out var map, out ulong place) || (effect == KeyEffect.Merge && !CanMerge(map, resolver)))
        {
            misplaced = true;
            return true;
        }
        var use = op.AddUse(Participant.EntryOf(key, place), effect, resolver, expects, expected);
        use.Incoming = brings ? value.ToArray() : null;
        return true;
    }

    private bool AllInOneShard(ParticipantRecord op)
    {
        foreach (ushort slot in op.Participants)
            if (state.Map!.ShardOfSlot(slot) != state.Shard) return false;
        return true;
    }

    /// <summary>
    /// Whether a key is of a map that can be used, and lies in this member's shard. Hash and shard key are the user's, so they may throw, or differ between members: then the
    /// operation is refused, at whichever member that happens.
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

    /// <summary>Whether all members can run the resolver: no coordinator asks for another.</summary>
    private bool CanMerge(DeclaredMap map, ulong resolver) => map.FindResolver(resolver) is { LackedBy: null } || !state.Rules.OnlyAgreedMaps;

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
        ProposalHead(ref body, op.Key, op.Owner, op.IsPut, op.Payload, false, op.Level, 0, op.Proposed, op.Participants);
        body.Var((ulong)op.UseCount);
        for (int i = 0; i < op.UseCount; i++)
        {
            var use = op.Uses[i];
            KeyPart(ref body, use.Entry.Key, use.Effect, use.Incoming, use.Resolver, use.Expects, use.Expected);
        }
        send.Send(to, DhtFrame.Forward, body.Length);
    }

    private void OnForward(int from, ref BodyReader body)
    {
        if (body.U8() == 1)
        {
            int coordinator = body.U16();
            var head = body;
            if (state.Map!.SlotOfRank(coordinator) < 0) Refuse(RefusalReason.Malformed);
            // Only a takeover gets parts handed on; the part of this member's own call comes from the call alone.
            else if (coordinator == state.Rank && !Coordinator.TakesOver(ReadAttempt(ref head, out _))) Refuse(RefusalReason.Unexpected);
            else OnPropose(from, coordinator, ref body, handedOn: true);
            return;
        }
        var key = ReadAttempt(ref body, out _);
        int target = state.Map!.RankOfSlot(body.U16());
        if (!body.Complete || target < 0) Refuse(RefusalReason.Malformed);
        else if (target == state.Rank || Participant.Find(key) is not { } op) return;
        else if (!Participant.TakesPart(from, op) || !Participant.TakesPart(target, op)) Refuse(RefusalReason.Unexpected);
        else if (state.Port.Room(target) > 0) Forward(target, from, op);
    }
}
