using System.Buffers;
using System.Text;
using GroupCore.Membership;
using Ida.Maps;
using Ida.Shared;
using Ida.Wire;

namespace Ida.ViewChange;

/// <summary>
/// The statement of a survivor at a view change: its part in the DHT and the puts that it holds. Frozen from the wedge to the install.
/// Values are not in it. Source: dht-view-change.md#messages, #contributions-are-frozen-and-equal-for-all.
/// </summary>
internal sealed class Contribution
{
    private const byte Version = 6;

    /// <summary>The member that contributed.</summary>
    public ProcessId Member { get; init; }

    public required DhtConfig Config { get; init; }

    /// <summary>What the member declares.</summary>
    public required MapSet Maps { get; init; }

    /// <summary>Whether the member takes part or wants to; false after a depopulation or close.</summary>
    public bool Enabled { get; init; }

    /// <summary>Only its number is written: the rest follows from the contributing member.</summary>
    public UInt128 Session { get; init; }

    /// <summary>The incarnation of the DHT that the member belongs to, 0 for none.</summary>
    public ulong Incarnation { get; init; }

    /// <summary>The view in which the member was accepted as waiting for the foundation, 0 before.</summary>
    public ulong Admitted { get; init; }

    public int Slot { get; init; } = -1;

    public bool Initialised { get; init; }

    /// <summary>The member wants to leave, and keeps its slot only while its shard's state has no other source.</summary>
    public bool Leaving { get; init; }

    public ulong Physical { get; init; }

    public ulong Committed { get; init; }

    public List<UnsettledOperation> Unsettled { get; } = [];

    public void Write(IBufferWriter<byte> into)
    {
        int size = 128 + DhtConfig.MaxHashName + Maps.Bytes.Length;
        foreach (var op in Unsettled) size += 68 + 3 * op.Participants.Length;
        var to = new BodyWriter(into.GetSpan(size));
        to.U8(Version);
        to.U8((byte)((Enabled ? 1 : 0) | (Initialised ? 2 : 0) | (Leaving ? 4 : 0)));
        to.Var((ulong)Config.ShardSize);
        to.Var((ulong)Config.TargetSize);
        to.Blob(Encoding.UTF8.GetBytes(Config.Hash));
        to.Blob(Maps.Bytes);
        to.U64((ulong)Session);
        to.Var(Incarnation);
        to.Var(Admitted);
        to.Var((ulong)(Slot + 1));
        to.U64(Physical);
        to.U64(Committed);
        to.Var((ulong)Unsettled.Count);
        foreach (var op in Unsettled)
        {
            to.U128(op.Key.Id.Session);
            to.Var(op.Key.Id.Sequence);
            to.Var(op.Key.Attempt);
            to.U64(op.Key.Payload);
            to.U64(op.Proposed);
            to.U64(op.Time);
            to.Var((ulong)op.Participants.Length);
            foreach (ushort slot in op.Participants) to.Var(slot);
        }
        into.Advance(to.Length);
    }

    /// <summary>
    /// Null if the bytes are not a contribution. <paramref name="known"/> has what members read before declare, and gets what this one adds: most members declare the same, which is read once.
    /// </summary>
    public static Contribution? Read(ProcessId member, ReadOnlySpan<byte> bytes, List<MapSet>? known = null)
    {
        var from = new BodyReader(bytes);
        if (from.U8() != Version) return null;
        byte flags = from.U8();
        ulong shardSize = from.Var(), targetSize = from.Var();
        string hash = Encoding.UTF8.GetString(from.Blob(DhtConfig.MaxHashName));
        var declared = from.Blob(DhtLimits.DeclarationBytes);
        var maps = Known(declared, known);
        ulong session = from.U64(), incarnation = from.Var(), admitted = from.Var(), slot = from.Var(), physical = from.U64(), committed = from.U64();
        if (maps is null || shardSize is 0 or > ushort.MaxValue || targetSize is 0 or > ushort.MaxValue || targetSize % shardSize != 0 || slot > ushort.MaxValue || physical > HybridClock.MaxTime || committed > HybridClock.MaxTime) return null;
        var read = new Contribution
        {
            Member = member,
            Config = new((int)shardSize, (int)targetSize, hash),
            Maps = maps,
            Enabled = (flags & 1) != 0,
            Initialised = (flags & 2) != 0,
            Leaving = (flags & 4) != 0,
            Session = SessionId.Of(member, session),
            Incarnation = incarnation,
            Admitted = admitted,
            Slot = (int)slot - 1,
            Physical = physical,
            Committed = committed,
        };
        int count = from.Count(int.MaxValue, 44);
        for (int i = 0; i < count && !from.Failed; i++)
        {
            var key = new AttemptId(new(from.U128(), from.Var()), (uint)from.Var(), from.U64());
            ulong proposed = from.U64(), time = from.U64();
            if (proposed > HybridClock.MaxTime || time > HybridClock.MaxTime) return null;
            var participants = new ushort[from.Count(ushort.MaxValue, 1)];
            for (int j = 0; j < participants.Length; j++) participants[j] = (ushort)from.Var();
            read.Unsettled.Add(new(key, proposed, time, participants));
        }
        return from.Complete ? read : null;
    }

    private static MapSet? Known(ReadOnlySpan<byte> declared, List<MapSet>? known)
    {
        foreach (var one in known ?? [])
            if (declared.SequenceEqual(one.Bytes)) return one;
        var read = MapSet.Read(declared);
        if (read is not null) known?.Add(read);
        return read;
    }
}
