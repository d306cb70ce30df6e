using GroupCore.Runtime;
using Oracle.Client;
using Oracle.Frames;
using Oracle.Log;

namespace Oracle.Detection;

/// <summary>
/// Who has dialled this process and cannot be dialled by it: other replicas, which it reaches, say whether that is who it says.
/// </summary>
/// <remarks>
/// A number that nobody can guess goes to the replicas over confirmed links, and from each to the process in question, if its link to that one is confirmed too, or that one
/// was introduced to it over that link; that process says it over the link that is in doubt, which it has dialled itself. So nobody says it who was not reached at that
/// process's address by a replica, which said so to the next over a link that was reached too. Asked for again every second; it holds until the connection breaks, since from
/// then on another may be at the other end. No two believe it of each other alone: the first of them was told before, by another, of a link that stands since.
/// </remarks>
internal sealed class Introductions(INode node, Outlet outlet, OracleDirectory directory)
{
    private const long Every = Durations.Second;
    private readonly List<Introduction> _all = [];

    /// <summary>Whether the other end of that link was introduced.</summary>
    public bool Has(int peer) => _all.Exists(one => one.Peer == peer && one.Done && one.NodeId == node.Links.NodeIdOf(peer));

    /// <summary>Whether that node was introduced, over a link that it still has.</summary>
    public bool HasNode(ulong nodeId) => _all.Exists(one => one.NodeId == nodeId && Has(one.Peer));

    /// <summary>Asks for an introduction, when it is time again.</summary>
    public void Ask(int peer, ulong nodeId)
    {
        if (_all.Find(one => one.Peer == peer) is { } last && node.Now - last.At < Every) return;
        OnFault(peer);
        if (_all.Count >= State.Limits.Replicas) _all.RemoveAt(0);
        var asked = new Introduction(peer, nodeId, node.Random.NextUInt64() | 1, node.Now);
        _all.Add(asked);
        Ask(directory.Replicas.Voters, asked);
        // A leader that is about to take a voter more may be reached by none that votes.
        Ask(directory.Replicas.Learners, asked);
    }

    private void Ask(IReadOnlyList<Replica> replicas, Introduction asked)
    {
        foreach (var replica in replicas)
        {
            if (replica.Node == asked.NodeId || replica.Node == node.Id) continue;
            int through = node.Links.Open(replica.Address, replica.Node);
            if (node.Links.IsConfirmed(through)) outlet.Reply(through, new IndirectProbeFrame(false, asked.NodeId, asked.Number));
        }
    }

    /// <summary>A probe with a number came over that link.</summary>
    public void OnNumber(int peer, ulong number)
    {
        if (_all.Find(one => one.Peer == peer) is { } asked && asked.Number == number) asked.Done = true;
    }

    public void OnFault(int peer) => _all.RemoveAll(one => one.Peer == peer);

    private sealed class Introduction(int peer, ulong nodeId, ulong number, long at)
    {
        public int Peer { get; } = peer;

        public ulong NodeId { get; } = nodeId;

        public ulong Number { get; } = number;

        public long At { get; } = at;

        public bool Done { get; set; }
    }
}
