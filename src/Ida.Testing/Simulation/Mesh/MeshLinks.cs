using GroupCore.Transport;
using GroupCore.Transport.Credentials;
using GroupCore.Transport.Mesh;

namespace Ida.Testing;

/// <summary>
/// The links of a mesh as the protocols of a simulated node see them: a call from outside a turn makes a turn follow, and a node may be crashed at a frame that it sends.
/// </summary>
internal sealed class MeshLinks(ISimNode owner, TcpMesh mesh) : ILinks, ILinkUses
{
    private byte[] _watched = [];

    public IEnumerable<LinkUse> Uses => mesh.Uses;

    public int Live => mesh.Live;

    public long SlabBytes => mesh.SlabBytes;

    public NodeAddress Local => mesh.Local;

    public NodeIdentity? Identity => mesh.Identity;

    public NodeIdentity? IdentityOf(int peer) => mesh.IdentityOf(peer);

    public bool WaitsForNode(int peer) => mesh.WaitsForNode(peer);

    public NodeBacklog? Quota => mesh.Quota;

    public bool IsFull => mesh.IsFull;

    public TimeSpan TimeToRoom => mesh.TimeToRoom;

    public int Open(NodeAddress address, ulong nodeId = 0)
    {
        owner.Wake();
        return mesh.Open(address, nodeId);
    }

    public void Close(int peer)
    {
        owner.Wake();
        mesh.Close(peer);
    }

    public void GiveUp(int peer, LinkFault fault = LinkFault.Rejected)
    {
        owner.Wake();
        mesh.GiveUp(peer, fault);
    }

    public void Blame(int peer)
    {
        owner.Wake();
        mesh.Blame(peer);
    }

    public void Vouch(int peer)
    {
        owner.Wake();
        mesh.Vouch(peer);
    }

    public void Hold(int peer) => mesh.Hold(peer);

    public void Release(int peer)
    {
        owner.Wake();
        mesh.Release(peer);
    }

    public bool IsConfirmed(int peer) => mesh.IsConfirmed(peer);

    public bool IsSettled(int peer) => mesh.IsSettled(peer);

    public long Received(int peer) => mesh.Received(peer);

    public long Taken(int peer) => mesh.Taken(peer);

    public void Probe(int peer)
    {
        owner.Wake();
        mesh.Probe(peer);
    }

    public ulong NodeIdOf(int peer) => mesh.NodeIdOf(peer);

    public NodeAddress AddressOf(int peer) => mesh.AddressOf(peer);

    public long Backlog(int peer) => mesh.Backlog(peer);

    public long Room(int peer) => mesh.Room(peer);

    public bool MayExceed(int peer) => mesh.MayExceed(peer);

    // A frame that is watched is looked at before the mesh has it.
    public Span<byte> Reserve(int size)
    {
        if (!owner.IsWatched) return mesh.Reserve(size);
        _watched = new byte[size];
        return _watched;
    }

    public Span<byte> Reserved(int size) => owner.IsWatched ? _watched.AsSpan(0, size) : mesh.Reserved(size);

    public void Send(int peer, int length)
    {
        owner.Wake();
        if (owner.IsWatched) Send([peer], length);
        else mesh.Send(peer, length);
    }

    public void Send(ReadOnlySpan<int> peers, int length)
    {
        owner.Wake();
        if (owner.IsWatched)
        {
            var frame = _watched.AsSpan(0, length);
            peers = peers[..owner.MaySend(frame, peers.Length)];
            frame.CopyTo(mesh.Reserve(length));
            // Room is for one send, as in the mesh.
            _watched = [];
        }
        mesh.Send(peers, length);
    }
}
