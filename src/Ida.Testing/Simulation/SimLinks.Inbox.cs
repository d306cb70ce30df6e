using GroupCore.Transport.Mesh;
using GroupCore.Wire;

namespace Ida.Testing;

/// <content>What waits for the owner's next turn, and how a turn takes it.</content>
internal sealed partial class SimLinks
{
    private readonly Queue<InboxItem> _inbox = new();
    private readonly Queue<SimLinkEnd> _haveRoom = new();
    private int _frames, _reads, _news;

    public void Receive(InboxItem item)
    {
        if (!owner.Alive) return;
        _inbox.Enqueue(item);
        owner.Wake();
    }

    public int Deliver(int most)
    {
        (_frames, _reads, _news) = (0, 0, 0);
        int events = 0;
        while (events < most && _inbox.TryPeek(out var item))
        {
            AnnounceRoom();
            int before = _frames;
            if (Handle(item, most - events)) _inbox.Dequeue();
            events += Math.Max(1, _frames - before);
        }
        AnnounceRoom();
        return _frames + _reads + _news;
    }

    public void OnFrame(LinkSession session, in FrameHeader header, ReadOnlySpan<byte> body)
    {
        AnnounceRoom();
        _frames++;
        owner.Simulation.Trace.Add(((ulong)session.Peer << 32) ^ (uint)header.Length);
        owner.Simulation.Trace.Add(((ulong)header.Type << 48) ^ ((ulong)header.Slot << 32) ^ header.View);
        owner.Simulation.Trace.Add(body);
        node.Deliver(session.Peer, in header, body);
    }

    // True when nothing is left of it.
    private bool Handle(InboxItem item, int frames)
    {
        if (item.Packet is not { } packet)
        {
            Announce(item);
            return true;
        }
        // As over the mesh, a read is work, whatever it brings.
        _reads++;
        if (!item.End.Read(packet, frames)) return false;
        owner.Simulation.Packets.Return(packet);
        return true;
    }

    // As over the mesh, senders that wait for room hear of it before anything that comes next, even in this turn.
    private void ReceiveRoom(SimLinkEnd end)
    {
        if (!owner.Alive) return;
        _haveRoom.Enqueue(end);
        owner.Wake();
    }

    private void Announce(InboxItem item)
    {
        if (item.End.IsClosed) return;
        _news++;
        owner.Simulation.Trace.Add(((ulong)item.End.Number << 8) | (item.Fault is { } kind ? (ulong)kind + 1 : 0));
        if (item.Fault is { } fault) node.LinkFailed(item.End.Number, fault);
        else node.LinkUp(item.End.Number);
    }

    private void AnnounceRoom()
    {
        while (_haveRoom.TryDequeue(out var end))
        {
            if (end.IsClosed) continue;
            _news++;
            owner.Simulation.Trace.Add((ulong)end.Number << 8);
            node.LinkHasRoom(end.Number);
        }
    }

    private void DropInbox()
    {
        _haveRoom.Clear();
        while (_inbox.TryDequeue(out var item))
            if (item.Packet is not null) owner.Simulation.Packets.Return(item.Packet);
    }
}
