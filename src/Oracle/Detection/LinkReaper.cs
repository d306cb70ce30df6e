using GroupCore.Runtime;
using GroupCore.Transport;

namespace Oracle.Detection;

/// <summary>
/// Closes links whose other end will not come back, together with their dialling and their queues, so that a process keeps nothing of the processes that it outlives.
/// </summary>
/// <remarks>
/// A link is closed in three cases: when it is over; when the process behind it is certainly gone and no longer watched (its users get
/// <see cref="LinkFault.Replaced"/>); and when no dial came through and no frame came for so long that, by the time-outs of membership, one of its
/// ends is out of the system (its users get <see cref="LinkFault.Rejected"/>). The connection to a process that fell silent may stay up for minutes. So
/// the link is probed when the process is no longer watched, and again every 5 s, so that a process that lives after all keeps it. Each step
/// probes a bounded number of links, in turn.
/// </remarks>
internal sealed class LinkReaper(INode node, OracleOptions options)
{
    private const long ProbeEvery = 5 * Durations.Second;
    private const int ProbesPerStep = 64;
    private readonly long _patience = options.IsolationTimeout.Nanoseconds() + options.ExclusionTimeout.Nanoseconds();
    private readonly List<(int Peer, long Since, long Received, long Probed)> _down = [];
    private int _next;

    /// <summary>Called for each link that is closed, before it is.</summary>
    public Action<int>? OnClosing { get; set; }

    public void OnUp(int peer) => _down.RemoveAll(link => link.Peer == peer);

    /// <summary>Call it after the handlers that need to know whose link it is.</summary>
    public void OnFault(int peer, LinkFault fault)
    {
        if (fault is not (LinkFault.Reset or LinkFault.Refused or LinkFault.Unreachable)) Close(peer);
        else if (!_down.Exists(link => link.Peer == peer)) _down.Add((peer, node.Now, node.Links.Received(peer), node.Now));
    }

    /// <summary>A process is excluded, or no longer watched because it is gone or assigned to others.</summary>
    public void OnDropped(int peer, bool gone)
    {
        if (gone) node.Links.GiveUp(peer, LinkFault.Replaced);
        else node.Links.Probe(peer);
    }

    /// <summary>Gives up every link that is down now.</summary>
    public void CloseAll()
    {
        foreach (var (peer, _, _, _) in _down) node.Links.GiveUp(peer);
        _down.Clear();
    }

    /// <summary>Called every 100 ms.</summary>
    public void Step()
    {
        for (int i = _down.Count - 1; i >= 0; i--)
        {
            var (peer, since, received, probed) = _down[i];
            // Frames come, so the process lives, though it cannot be dialled: its address cannot be reached, or it is out of descriptors.
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

    /// <summary>Goes on where the last step stopped, so that each link has its turn, however many there are.</summary>
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
