using System.Buffers.Binary;
using GroupCore.Groups.Buffers;
using GroupCore.Groups.Shared;
using GroupCore.Membership;
using GroupCore.Runtime;
using GroupCore.Wire;

namespace GroupCore.Groups.State;

/// <summary>
/// Sends the checkpoint of a view to its members without state: chunks of 255 KiB, at most 8 unacknowledged per joiner. Ends with the view:
/// a member that is not initialised then gets the next view's checkpoint. Source: state-transfer.md#each-view-begins-the-transfer-again.
/// </summary>
internal sealed class StateGiver(IViewMember group, View view, PayloadBuffer state, ulong hash)
{
    private readonly List<(int Rank, int Sent, int Acked, bool Ended)> _joiners = [];

    public void Start()
    {
        for (int rank = 0; rank < view.Members.Count; rank++)
        {
            if (view.Members[rank].Initialised || rank == group.Rank) continue;
            var frame = group.Links.Frame(FrameType.StateOpen, 8);
            BinaryPrimitives.WriteInt64LittleEndian(frame, state.Length);
            group.Links.SendTo(rank);
            _joiners.Add((rank, 0, 0, false));
            Continue(_joiners.Count - 1);
        }
    }

    /// <summary>received u64: credit for more.</summary>
    public void OnAck(int rank, ReadOnlySpan<byte> body)
    {
        int index = _joiners.FindIndex(j => j.Rank == rank);
        if (index < 0 || body.Length != 8 || BinaryPrimitives.ReadUInt64LittleEndian(body) > (ulong)_joiners[index].Sent)
        {
            group.Node.Counters.Refuse(index < 0 ? RefusalReason.Unexpected : RefusalReason.Malformed);
            return;
        }
        _joiners[index] = _joiners[index] with { Acked = (int)BinaryPrimitives.ReadUInt64LittleEndian(body) };
        Continue(index);
    }

    /// <summary>Frames on the link to a joiner are lost, and the rest is of no use without them. The loss leads to another view, and the joiner gets the state of that one.</summary>
    public void OnLinkLost(int rank)
    {
        int index = _joiners.FindIndex(joiner => joiner.Rank == rank);
        if (index >= 0) _joiners[index] = _joiners[index] with { Ended = true };
    }

    /// <summary>The link has room again.</summary>
    public void OnRoom(int rank)
    {
        int index = _joiners.FindIndex(joiner => joiner.Rank == rank);
        if (index >= 0) Continue(index);
    }

    private void Continue(int index)
    {
        var (rank, sent, acked, over) = _joiners[index];
        if (over) return;
        while (sent < state.Length && sent - acked < GroupLimits.StateWindow * GroupLimits.StateChunkBytes && group.Links.RoomTo(rank) > 0)
        {
            int size = Math.Min(GroupLimits.StateChunkBytes, state.Length - sent);
            var frame = group.Links.Frame(FrameType.StateChunk, 8 + size);
            BinaryPrimitives.WriteInt64LittleEndian(frame, sent);
            state.Written.Slice(sent, size).CopyTo(frame[8..]);
            group.Links.SendTo(rank);
            sent += size;
        }
        _joiners[index] = (rank, sent, acked, sent == state.Length);
        if (sent < state.Length) return;
        var done = group.Links.Frame(FrameType.StateEnd, 16);
        BinaryPrimitives.WriteInt64LittleEndian(done, state.Length);
        BinaryPrimitives.WriteUInt64LittleEndian(done[8..], hash);
        group.Links.SendTo(rank);
    }
}
