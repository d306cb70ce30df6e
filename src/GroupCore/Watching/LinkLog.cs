using GroupCore.Diagnostics;
using GroupCore.Runtime;
using GroupCore.Transport;
using GroupCore.Transport.Mesh;

namespace GroupCore.Watching;

/// <summary>
/// Tells the log what happens to links, but only changes: a link that is up is reported as up again after each probe, and a dial that fails is repeated every
/// second. Anybody may connect and break off as often as they like, so at most <see cref="MostBetweenLooks"/> changes are told between two looks, and then the
/// number of further ones.
/// </summary>
internal sealed class LinkLog(INode node) : ILinkObserver
{
    public const int MostBetweenLooks = 100;
    private readonly PeerTable<Link> _links = new();
    private int _changes;

    private enum Told
    {
        Nothing,
        Up,
        Broken,
        NotReached,
    }

    public void OnLinkUp(int peer)
    {
        var link = _links[peer] ??= new();
        if (link.Told == Told.Up) return;
        link.Told = Told.Up;
        if (MayTell()) node.Log.PeerConnected(NameOf(peer), $"{node.Links.NodeIdOf(peer):x16}");
    }

    public void OnLinkFault(int peer, LinkFault fault)
    {
        var link = _links[peer] ??= new();
        switch (fault)
        {
            case LinkFault.Reset:
                if (link.Told == Told.Up && MayTell()) node.Log.PeerLost(NameOf(peer));
                link.Told = Told.Broken;
                break;
            // A probe of the listener may fail while the connection is up.
            case LinkFault.Refused or LinkFault.Unreachable when link.Told is Told.Up or Told.NotReached:
                break;
            case LinkFault.Refused or LinkFault.Unreachable:
                link.Told = Told.NotReached;
                if (MayTell()) node.Log.PeerNotReached(NameOf(peer), $"{fault}");
                break;
            default:
                _links[peer] = null;
                if (MayTell()) node.Log.LinkOver(NameOf(peer), $"{fault}");
                break;
        }
    }

    /// <summary>Once a second.</summary>
    public void Look()
    {
        if (_changes > MostBetweenLooks) node.Log.LinkChangesLeftOut(_changes - MostBetweenLooks);
        _changes = 0;
    }

    /// <summary>Forgets links that were closed: no observer is told when that happens.</summary>
    public void Prune()
    {
        for (int peer = _links.Next(0); peer >= 0; peer = _links.Next(peer + 1))
            if (node.Links.AddressOf(peer) == default) _links[peer] = null;
    }

    private bool MayTell() => ++_changes <= MostBetweenLooks;

    private string NameOf(int peer) => node.Links.AddressOf(peer).Text ?? "?";

    private sealed class Link
    {
        public Told Told { get; set; }
    }
}
