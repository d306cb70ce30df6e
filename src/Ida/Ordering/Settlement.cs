using GroupCore.Runtime;

namespace Ida.Ordering;

/// <summary>
/// Finds out whose commit has reached all participants, so that records can go. Each pair counts the commits on its FIFO channel; the
/// receiver returns its count, the sender returns how many of them, from the first on, are everywhere. Both counts travel in one small
/// frame, after <see cref="Batch"/> commits or at the next tick, off every operation's path. Source: ida 4.15 (SETTLED, GC).
/// </summary>
internal sealed class Settlement(DhtState state, Wire.DhtSender send, Participant participant)
{
    private const int Batch = 64;
    private readonly Stack<CommitTicket> _tickets = [];
    private Peer[] _peers = [];

    /// <summary>Whether a count waits for the next tick.</summary>
    public bool HasNews { get; private set; }

    /// <summary>Begins a view: counts start at zero.</summary>
    public void Begin(int members)
    {
        _peers = new Peer[members];
        for (int i = 0; i < members; i++) _peers[i] = new();
        HasNews = false;
    }

    /// <summary>A commit leaves for <paramref name="ranks"/>.</summary>
    public void CommitSent(ReadOnlySpan<int> ranks, OpRecord? local)
    {
        if (ranks.Length == 0)
        {
            if (local is not null) participant.Settle(local);
            return;
        }
        var ticket = _tickets.TryPop(out var free) ? free : new();
        ticket.Missing = ticket.Queues = ranks.Length;
        (ticket.Local, ticket.LocalGeneration) = (local, local?.Generation ?? 0);
        foreach (int rank in ranks)
        {
            _peers[rank].Unacked.Enqueue(ticket);
            _peers[rank].Unsettled.Enqueue(ticket);
        }
    }

    public void CommitArrived(int from, OpRecord? op)
    {
        if (from == state.Rank) return;
        var peer = _peers[from];
        peer.Arrived.Enqueue((op, op?.Generation ?? 0));
        peer.ArrivedCount++;
        HasNews = true;
    }

    /// <summary>Counts of a peer; refused when they are impossible.</summary>
    public void OnSettle(int from, ulong arrived, ulong settled)
    {
        var peer = _peers[from];
        if (arrived < (ulong)peer.AckedCount || arrived - (ulong)peer.AckedCount > (ulong)peer.Unacked.Count
            || settled < (ulong)peer.DroppedCount || settled - (ulong)peer.DroppedCount > (ulong)peer.Arrived.Count)
        {
            state.Node.Counters.Refuse(RefusalReason.Unexpected);
            return;
        }
        for (; peer.AckedCount < (long)arrived; peer.AckedCount++)
        {
            var ticket = peer.Unacked.Dequeue();
            if (--ticket.Missing > 0) continue;
            HasNews = true;
            if (ticket.Local is { } local && local.Generation == ticket.LocalGeneration) participant.Settle(local);
        }
        for (; peer.DroppedCount < (long)settled; peer.DroppedCount++)
        {
            var (op, generation) = peer.Arrived.Dequeue();
            if (op is not null && op.Generation == generation) participant.Settle(op);
        }
    }

    /// <summary>Sends counts: large ones at the end of a turn, all at a tick.</summary>
    public void Flush(bool all)
    {
        if (!HasNews) return;
        bool left = false;
        for (int rank = 0; rank < _peers.Length; rank++)
        {
            var peer = _peers[rank];
            while (peer.Unsettled.TryPeek(out var ticket) && ticket.Missing == 0)
            {
                peer.Unsettled.Dequeue();
                peer.SettledCount++;
                if (--ticket.Queues == 0) Recycle(ticket);
            }
            long news = peer.ArrivedCount - peer.ArrivedSent + peer.SettledCount - peer.SettledSent;
            if (news == 0) continue;
            if (!all && news < Batch)
            {
                left = true;
                continue;
            }
            send.Settle(rank, peer.ArrivedCount, peer.SettledCount);
            (peer.ArrivedSent, peer.SettledSent) = (peer.ArrivedCount, peer.SettledCount);
        }
        HasNews = left;
    }

    private void Recycle(CommitTicket ticket)
    {
        ticket.Local = null;
        if (_tickets.Count < 4096) _tickets.Push(ticket);
    }

    private sealed class Peer
    {
        public readonly Queue<CommitTicket> Unacked = new(), Unsettled = new();
        public readonly Queue<(OpRecord? Op, int Generation)> Arrived = new();
        public long AckedCount, SettledCount, SettledSent, ArrivedCount, ArrivedSent, DroppedCount;
    }
}
