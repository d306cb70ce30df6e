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
/// minutes: it is probed when it is no longer watched, and again every 5 s, so that one that lives after all is not closed. Of many a bounded number is
/// probed with each step, in turn.
/// </remarks>
internal sealed class DeadLinks(INode node, OracleOptions options)
{
    private const long ProbeEvery = 5 * Durations.Second;
    private const int ProbesPerStep = 64;
    private readonly long _patience = options.IsolationTimeout.Nanoseconds() + options.PoisonTimeout.Nanoseconds();
    private readonly List<(int Peer, long Since, long Received, long Probed)> _down = [];
    private int _next;

    /// <summary>Hears of each link that is let go of, before it is.</summary>
    public Action<int>? OnClosing { get; set; }

    public void OnUp(int peer) => _down.RemoveAll(link => link.Peer == peer);

    /// <summary>To be called after those who want to know whose link it is.</summary>
    public void OnFault(int peer, LinkFault fault)
    {
        if (fault is not (LinkFault.Reset or LinkFault.Refused or LinkFault.Unreachable)) Close(peer);
        else if (!_down.Exists(link => link.Peer == peer)) _down.Add((peer, node.Now, node.Links.Received(peer), node.Now));
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
        foreach (var (peer, _, _, _) in _down) node.Links.GiveUp(peer);
        _down.Clear();
    }

    /// <summary>Every 100 ms.</summary>
    public void Step()
    {
        for (int i = _down.Count - 1; i >= 0; i--)
        {
            var (peer, since, received, probed) = _down[i];
            // Nobody can be dialled there, but its own connection serves: an address that others cannot reach, or a process without descriptors.
            if (node.Links.Received(peer) is var now && now != received)
            {
                _down[i] = (peer, node.Now, now, probed);
            }
            else if (node.Now - since > _patience)
            {
                _down.RemoveAt(i);
                node.Links.GiveUp(peer);
            }
        }
        Probe();
    }

    /// <summary>Goes on where the last step left off: each link has its turn, however many there are.</summary>
    private void Probe()
    {
        int probes = 0;
        for (int left = _down.Count; left > 0 && probes < ProbesPerStep; left--, _next++)
        {
            if (_next >= _down.Count) _next = 0;
            if (node.Now - _down[_next].Probed < ProbeEvery) continue;
            _down[_next] = _down[_next] with { Probed = node.Now };
            node.Links.Probe(_down[_next].Peer);
            probes++;
        }
    }

    private void Close(int peer)
    {
        OnUp(peer);
        OnClosing?.Invoke(peer);
        node.Links.Close(peer);
    }
}
