using GroupCore.Groups;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;
using Ida.Messages;
using Ida.Ordering;
using Ida.Placement;
using Ida.Shared;
using Ida.Transfer;

namespace Ida.Tests;

/// <summary>
/// One member's side of a transfer, without the layer around it; what it sends is kept. Each of four members has the slot of its rank. In the first shard the member of slot 0
/// has the state, and the member of slot 2 does not.
/// </summary>
internal sealed class TransferSide : IGroupPort
{
    public const int SourceRank = 0, NewcomerRank = 2;
    public const ulong ThisView = 5;
    // Room that no frame has been sent from yet.
    private byte[]? _room;

    public TransferSide(bool source)
    {
        Rank = source ? SourceRank : NewcomerRank;
        SlotState[] slots = [new(FlatView.Id(0), true), new(FlatView.Id(1), true), new(FlatView.Id(2), false), new(FlatView.Id(3), true)];
        State = new(this, new() { ShardSize = 2, TargetSize = 4 }, null!, new(0)) { Map = new(slots, 2, View!), View = ThisView, Rank = Rank, Slot = Rank, Shard = 0, Initialised = source };
        var send = new DhtSender(State);
        Participant = new(State, new DhtMessages(State, send, new(State.Options, 2)));
        Source = new(State, send, Participant);
        Sink = new(State, send, Participant);
        Participant.Late.Sink = Sink;
    }

    public INode Node { get; } = new LogBus().Add(1);

    public View? View { get; } = FlatView.Of(4);

    public int Rank { get; }

    public ProcessId Self => FlatView.Id(Rank);

    public bool Wedged => false;

    public bool HoldsLease => true;

    public DhtState State { get; }

    public Participant Participant { get; }

    public StateSource Source { get; }

    public StateSink Sink { get; }

    /// <summary>Whether links take bulk now.</summary>
    public bool HasRoom { get; set; } = true;

    /// <summary>What was sent since it was last taken.</summary>
    public List<(int Rank, FrameType Type, byte[] Body)> Sent { get; } = [];

    /// <summary>The key of that number among those that lie in a range.</summary>
    public static byte[] KeyIn(int range, int number)
    {
        for (int i = 0; ; i++)
        {
            byte[] key = [.. new byte[KeyIdentity.MapBytes], .. BitConverter.GetBytes(i)];
            if (EntryTable.RangeOf(KeyIdentity.PlaceOf(key)) == range && number-- == 0) return key;
        }
    }

    public long Refused(RefusalReason reason) => Node.Counters.Refused(reason);

    public Entry Find(byte[] key) => Participant.Slice.Table.Find(key, KeyIdentity.PlaceOf(key))!;

    /// <summary>An entry as it was before the view began.</summary>
    public Entry Add(byte[] key, byte[]? value, ulong version)
    {
        var entry = Participant.Slice.Table.FindOrAdd(key, KeyIdentity.PlaceOf(key), 1);
        (entry.Value, entry.Version) = (value, version);
        return entry;
    }

    public List<(int Rank, FrameType Type, byte[] Body)> TakeSent()
    {
        List<(int, FrameType, byte[])> sent = [.. Sent];
        Sent.Clear();
        return sent;
    }

    public long Room(int rank) => HasRoom ? long.MaxValue : 0;

    public bool IsHere(int rank) => true;

    public Span<byte> Reserve(int size) => _room = new byte[size];

    public void Send(int rank, FrameType type, int length) => Send([rank], type, length);

    public void Send(ReadOnlySpan<int> ranks, FrameType type, int length)
    {
        Assert.NotNull(_room);
        foreach (int rank in ranks) Sent.Add((rank, type, _room[..length]));
        _room = null;
    }

    public void RequestView() => throw new NotSupportedException();

    public void Leave() => throw new NotSupportedException();

    public void Suspect(int rank, Suspicion evidence) => throw new NotSupportedException();
}
