using GroupCore.Runtime;
using GroupCore.Transport;

namespace Oracle.Detection;

/// <summary>
/// Lets go of links that nobody will come back on, with their dialling and what is queued, so that a process keeps nothing of those it outlives.
/// </summary>
/// <remarks>
/// A link is closed when it is over; when the process behind it is gone for certain and no longer watched, and whoever still uses it hears
/// <see cref="LinkFault.Replaced"/>; or when for so long no dial came through and no frame came that, by the time-outs of membership, one of
/// its ends is out of the system, and whoever still uses it hears <see cref="LinkFault.Rejected"/>. Of a process that fell silent the connection may stand for
/// a quarter of an hour: it is probed when it is no longer watched, and again every 5 s, so that one that lives after all is not closed.
/// </remarks>
internal sealed class DeadLinks(INode node, OracleOptions options)
{
    private const long ProbeEvery = 5 * Durations.Second;
    private readonly long _patience = options.IsolationTimeout.Nanoseconds() + options.PoisonTimeout.Nanoseconds();
    private readonly List<(int Peer, long Since, long Received)> _down = [];
    private long _probed;

    /// <summary>Hears of each link that is let go of, before it is.</summary>
    public Action<int>? OnClosing { get; set; }

    public void OnUp(int peer) => _down.RemoveAll(link => link.Peer == peer);

    /// <summary>To be called after those who want to know whose link it is.</summary>
    public void OnFault(int peer, LinkFault fault)
    {
        if (fault is not (LinkFault.Reset or LinkFault.Refused or LinkFault.Unreachable)) Close(peer);
        else if (!_down.Exists(link => link.Peer == peer)) _down.Add((peer, node.Now, node.Links.Received(peer)));
    }

    /// <summary>A process is watched no longer: excluded, gone, or left to others.</summary>
    public void OnDropped(int peer, bool gone)
    {
        if (gone) node.Links.GiveUp(peer, LinkFault.Replaced);
        else node.Links.Probe(peer);
    }

    /// <summary>Nothing that was dialled so far and is down matters any more.</summary>
    public void CloseAll()
    {
        foreach (var (peer, _, _) in _down) node.Links.GiveUp(peer);
        _down.Clear();
    }

    /// <summary>Every 100 ms.</summary>
    public void Step()
    {
        if (_down.Count == 0) return;
        bool probe = node.Now - _probed >= ProbeEvery;
        if (probe) _probed = node.Now;
        for (int i = _down.Count - 1; i >= 0; i--)
        {
            var (peer, since, received) = _down[i];
            // Nobody can be dialled there, but its own connection serves: an address that others cannot reach, or a process without descriptors.
            if (node.Links.Received(peer) is var now && now != received)
            {
                _down[i] = (peer, node.Now, now);
            }
            else if (node.Now - since > _patience)
            {
                _down.RemoveAt(i);
                node.Links.GiveUp(peer);
            }
            else if (probe)
            {
                node.Links.Probe(peer);
            }
        }
    }

    private void Close(int peer)
    {
        OnUp(peer);
        OnClosing?.Invoke(peer);
        node.Links.Close(peer);
    }
}
