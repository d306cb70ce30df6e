using GroupCore.Runtime;
using Oracle.Frames;

namespace Oracle.Detection;

/// <summary>
/// Probes for other processes: passes a probe on to a third process, and the answer back. Only over links that are up already: an address that
/// another process names is never dialled, so no process can make this one open links.
/// </summary>
internal sealed class Relays(INode node, FrameSender sender, Introductions introductions)
{
    private const int Most = 64;
    // No process waits longer for an answer, however poor its health is.
    public const long Life = 3 * Durations.Second;
    private readonly SortedDictionary<ulong, int> _links = [];
    private readonly List<(ulong Subject, int Peer, long At)> _waiting = [];

    public int Count => _links.Count;

    public void OnUp(int peer)
    {
        if (node.Links.NodeIdOf(peer) is not 0 and ulong nodeId) _links[nodeId] = peer;
    }

    public void OnClosed(int peer)
    {
        foreach (var (nodeId, link) in _links)
        {
            if (link != peer) continue;
            _links.Remove(nodeId);
            return;
        }
    }

    /// <summary>Probes the subject on behalf of a peer; does nothing without a link to the subject.</summary>
    public void Ask(int peer, ulong subject, ulong number)
    {
        if (Find(subject) is not { } link) return;
        _waiting.RemoveAll(relay => node.Now - relay.At > Life || (relay.Subject == subject && relay.Peer == peer));
        if (_waiting.Count >= Most) return;
        _waiting.Add((subject, peer, node.Now));
        sender.Reply(link, new ProbeFrame(false, number));
    }

    /// <summary>
    /// A peer wants to know whether one of its links leads to the subject. The subject is asked to say the number over that link; no other process gets the number. A subject
    /// that is known here only by an introduction is asked as well.
    /// </summary>
    public void Introduce(int peer, ulong subject, ulong number)
    {
        if (Find(subject) is { } link && (node.Links.IsConfirmed(link) || introductions.Has(link))) sender.Reply(link, new IndirectProbeFrame(false, node.Links.NodeIdOf(peer), number, Relayed: true));
    }

    /// <summary>Says a number to a process that was reached at its address; never to one that only claims to be that process, and might pass the number on.</summary>
    public void Say(ulong subject, ulong number)
    {
        if (Find(subject) is { } link && node.Links.IsConfirmed(link)) sender.Reply(link, new ProbeFrame(false, number));
    }

    /// <summary>The subject answered: tells every process that asked for it.</summary>
    public void Answered(ulong subject)
    {
        for (int i = _waiting.Count - 1; i >= 0; i--)
        {
            if (_waiting[i].Subject != subject) continue;
            if (node.Now - _waiting[i].At <= Life) sender.Reply(_waiting[i].Peer, new IndirectProbeFrame(true, subject));
            _waiting.RemoveAt(i);
        }
    }

    /// <summary>The link to a node that is or was up; null if there is none.</summary>
    public int? Find(ulong subject) => _links.TryGetValue(subject, out int link) && node.Links.NodeIdOf(link) == subject ? link : null;
}
