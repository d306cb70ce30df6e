using Ida.Kinds;
using Ida.Ordering;
using Ida.Shared;

namespace Ida.Coordination;

/// <summary>An attempt driven by this process: as its caller's coordinator, or as a participant that took over.</summary>
internal sealed class CoordinatedOperation
{
    public AttemptId Key;
    public int Owner;
    public OperationKind Kind = OperationKind.Get;
    public bool Single;
    public ConsistencyLevel Level;
    public ushort[] Slots = new ushort[8];
    public SlotFlags[] Flags = new SlotFlags[8];
    public ulong[] Times = new ulong[8];
    public int Count;
    public ulong Time;
    public AttemptPhase Phase;
    public RejectReason Reason;

    /// <summary>The rank of the participant that gave the reason; −1 while it is the least of all reasons.</summary>
    public int RefusedBy = -1;

    /// <summary>Null for a takeover, and when the caller's operation has ended.</summary>
    public ClientOperation? Client;

    /// <summary>When a takeover begins again.</summary>
    public long RetryAt;

    public bool IsTakeover;

    /// <summary>The caller was answered before the operation was stable: the operation must not be acknowledged yet.</summary>
    public bool ReturnedEarly;

    /// <summary>Number of puts of the member that began before this operation.</summary>
    public ulong PutsBefore;

    /// <summary><see cref="OperationNumbers.Releases"/> when it was sent.</summary>
    public int Releases;

    /// <summary>Whether the time was known when the participants were asked.</summary>
    public bool AskedWithTime;

    public void Add(ushort slot)
    {
        if (Count == Slots.Length)
        {
            Array.Resize(ref Slots, Count * 2);
            Array.Resize(ref Flags, Count * 2);
            Array.Resize(ref Times, Count * 2);
        }
        Slots[Count] = slot;
        Flags[Count] = SlotFlags.None;
        Times[Count++] = 0;
    }

    public int IndexOf(int slot) => slot < 0 ? -1 : Slots.AsSpan(0, Count).IndexOf((ushort)slot);

    /// <summary>Whether each participant has one of the flags.</summary>
    public bool All(SlotFlags any)
    {
        for (int i = 0; i < Count; i++)
            if ((Flags[i] & any) == SlotFlags.None) return false;
        return true;
    }

    public bool Any(SlotFlags any)
    {
        for (int i = 0; i < Count; i++)
            if ((Flags[i] & any) != SlotFlags.None) return true;
        return false;
    }

    public void Reset()
    {
        Count = 0;
        Time = 0;
        (Reason, RefusedBy) = (RejectReason.Rejected, -1);
        Phase = AttemptPhase.Asked;
        ReturnedEarly = IsTakeover = Single = false;
        Client = null;
        RetryAt = 0;
    }
}
