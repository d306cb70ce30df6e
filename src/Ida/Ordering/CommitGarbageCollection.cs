using System.Runtime.InteropServices;
using GroupCore.Runtime;
using Ida.Shared;
using Ida.Wire;

namespace Ida.Ordering;

/// <summary>
/// Finds out which commits have reached all participants, so that records can go. Each pair numbers the commits on its FIFO channel; the
/// receiver returns how many arrived, the sender returns the numbers of the commits that are everywhere. Both travel in one small frame, after
/// <see cref="Batch"/> commits or at the next tick, outside of every operation's path. A participant that stalls holds back only the records of
/// operations in which it takes part. Source: dht-order.md#records-stay-until-the-commit-is-everywhere.
/// </summary>
internal sealed class CommitGarbageCollection(DhtState state, DhtSender send, Participant participant)
{
    /// <summary>Most commits of a pair, in each direction, that are not yet known to be everywhere; honest members have far fewer.</summary>
    internal const int MostOpen = 1 << 20;

    private const int Batch = 64, MostPerFrame = 4096;
    private readonly Stack<CommitTicket> _tickets = [];
    private readonly List<int> _dirty = [];
    private Peer[] _peers = [];

    /// <summary>Whether counts wait for the next tick.</summary>
    public bool HasNews => _dirty.Count > 0;

    /// <summary>Begins a view: counts start at zero.</summary>
    public void Begin(int members)
    {
        _peers = new Peer[members];
        for (int i = 0; i < members; i++) _peers[i] = new();
        _dirty.Clear();
    }

    /// <summary>No view follows.</summary>
    public void Forget()
    {
        Begin(0);
        _tickets.Clear();
        _tickets.TrimExcess();
    }

    /// <summary>A commit leaves for <paramref name="ranks"/>.</summary>
    public void CommitSent(ReadOnlySpan<int> ranks, ParticipantRecord? local)
    {
        if (ranks.Length == 0)
        {
            if (local is not null) participant.Settle(local);
            return;
        }
        var ticket = _tickets.TryPop(out var free) ? free : new();
        ticket.Missing = ranks.Length;
        (ticket.Local, ticket.LocalGeneration) = (local, local?.Generation ?? 0);
        foreach (int rank in ranks)
        {
            ticket.Places.Add((rank, _peers[rank].SentCount++));
            _peers[rank].Unacked.Enqueue(ticket);
            // In the next view all counts start anew.
            if (_peers[rank].Unacked.Count > MostOpen) state.AskForView();
        }
    }

    public void CommitArrived(int from, ParticipantRecord? op)
    {
        if (from == state.Rank) return;
        var peer = _peers[from];
        if (peer.Stopped) return;
        // An honest peer sends few commits per operation held here.
        if (op is not null && peer.Arrived.Count < MostOpen) peer.Arrived.Add(peer.ArrivedCount, (op, op.Generation));
        peer.ArrivedCount++;
        Mark(from);
    }

    /// <summary>
    /// A peer's commit had no effect. Counts say only how many commits arrived, one after the other: so later commits of this peer are not
    /// acknowledged either, and all members keep their records until the next view.
    /// </summary>
    public void StopCounting(int from)
    {
        if (from != state.Rank) _peers[from].Stopped = true;
    }

    /// <summary>Takes the counts of a peer (<see cref="Send"/>); refuses impossible ones.</summary>
    public void OnSettle(int from, ref BodyReader body)
    {
        var peer = _peers[from];
        ulong arrived = body.Var();
        int settled = body.Count(MostPerFrame, 1);
        if (body.Failed || arrived < (ulong)peer.AckedCount || arrived > (ulong)peer.SentCount)
        {
            state.Node.Counters.Refuse(RefusalReason.Malformed);
            return;
        }
        for (; peer.AckedCount < (long)arrived; peer.AckedCount++) Acknowledge(peer.Unacked.Dequeue());
        for (int i = 0; i < settled; i++)
        {
            ulong index = body.Var();
            if (body.Failed || index >= (ulong)peer.ArrivedCount)
            {
                state.Node.Counters.Refuse(RefusalReason.Malformed);
                return;
            }
            if (peer.Arrived.Remove((long)index, out var one) && one.Op.Generation == one.Generation) participant.Settle(one.Op);
        }
    }

    /// <summary>Sends counts: at the end of a turn those that fill a batch, at a tick all.</summary>
    public void Flush(bool all)
    {
        if (_dirty.Count == 0) return;
        int kept = 0;
        for (int i = 0; i < _dirty.Count; i++)
        {
            int rank = _dirty[i];
            var peer = _peers[rank];
            if (!all && peer.ArrivedCount - peer.ArrivedSent + peer.News.Count < Batch)
            {
                _dirty[kept++] = rank;
                continue;
            }
            int count = Math.Min(peer.News.Count, MostPerFrame);
            Send(rank, peer.ArrivedCount, CollectionsMarshal.AsSpan(peer.News)[..count]);
            peer.News.RemoveRange(0, count);
            peer.ArrivedSent = peer.ArrivedCount;
            peer.Dirty = peer.News.Count > 0;
            if (peer.Dirty) _dirty[kept++] = rank;
        }
        _dirty.RemoveRange(kept, _dirty.Count - kept);
    }

    /// <summary>The frame Settle: how many commits arrived var, the number of those that are everywhere var, and the number var of each.</summary>
    private void Send(int to, long arrived, ReadOnlySpan<long> settled)
    {
        var body = send.Room(20 + 10 * settled.Length);
        body.Var((ulong)arrived);
        body.Var((ulong)settled.Length);
        foreach (long index in settled) body.Var((ulong)index);
        send.Send(to, DhtFrame.Settle, body.Length);
    }

    private void Acknowledge(CommitTicket ticket)
    {
        if (--ticket.Missing > 0) return;
        if (ticket.Local is { } local && local.Generation == ticket.LocalGeneration) participant.Settle(local);
        foreach (var (rank, index) in ticket.Places)
        {
            _peers[rank].News.Add(index);
            Mark(rank);
        }
        ticket.Places.Clear();
        ticket.Local = null;
        if (_tickets.Count < 4096) _tickets.Push(ticket);
    }

    private void Mark(int rank)
    {
        if (_peers[rank].Dirty) return;
        _peers[rank].Dirty = true;
        _dirty.Add(rank);
    }

    private sealed class Peer
    {
        public readonly Queue<CommitTicket> Unacked = new();
        public readonly Dictionary<long, (ParticipantRecord Op, int Generation)> Arrived = [];
        public readonly List<long> News = [];
        public long SentCount, AckedCount, ArrivedCount, ArrivedSent;
        public bool Dirty, Stopped;
    }
}
