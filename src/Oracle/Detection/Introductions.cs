using GroupCore.Runtime;
using Oracle.Client;
using Oracle.Frames;

namespace Oracle.Detection;

/// <summary>
/// Introductions of processes that have dialled this process and cannot be dialled by it. Replicas that it can reach say whether such a process is the one it claims to be.
/// </summary>
/// <remarks>
/// A random number goes to the replicas over confirmed links. Each replica passes it to the process in question, if its link to that process is confirmed too, or if the
/// process was introduced to it over that link. The process returns the number over the link in doubt, which it has dialled itself. So only a process that some replica reached
/// at its address can return the number; to each further replica on the way it was introduced in the same manner. The question is repeated every second. An introduction ends
/// with its connection, since another process may be at the other end afterwards. Two replicas never rely on each other alone: the earlier of their introductions was made by a
/// third, over a link that is still up.
/// </remarks>
internal sealed class Introductions(INode node, FrameSender sender, OracleDirectory directory)
{
    private const long Every = Durations.Second;
    private readonly List<Introduction> _all = [];

    /// <summary>Whether the other end of this link was introduced.</summary>
    public bool Has(int peer) => _all.Exists(one => one.Peer == peer && one.Answered && one.NodeId == node.Links.NodeIdOf(peer));

    /// <summary>Whether this node was introduced, over a link that it still has.</summary>
    public bool HasNode(ulong nodeId) => _all.Exists(one => one.NodeId == nodeId && Has(one.Peer));

    /// <summary>Asks for an introduction, when it is time again.</summary>
    public void Ask(int peer, ulong nodeId)
    {
        if (_all.Find(one => one.Peer == peer) is { } last && node.Now - last.At < Every) return;
        OnFault(peer);
        if (_all.Count >= Limits.Replicas) _all.RemoveAt(0);
        var asked = new Introduction(peer, nodeId, node.Random.NextUInt64() | 1, node.Now);
        _all.Add(asked);
        Ask(directory.Replicas.Voters, asked);
        // Perhaps no voter can reach a leader that is about to add a voter.
        Ask(directory.Replicas.Learners, asked);
    }

    private void Ask(IReadOnlyList<Replica> replicas, Introduction asked)
    {
        foreach (var replica in replicas)
        {
            if (replica.Node == asked.NodeId || replica.Node == node.Id) continue;
            int through = node.Links.Open(replica.Address, replica.Node);
            if (node.Links.IsConfirmed(through)) sender.Reply(through, new IndirectProbeFrame(false, asked.NodeId, asked.Number));
        }
    }

    /// <summary>A probe with a number came over this link. The number that was sent out for this link proves which node is at the other end.</summary>
    public void OnNumber(int peer, ulong number)
    {
        if (_all.Find(one => one.Peer == peer) is { } asked && asked.Number == number) asked.Answered = true;
    }

    public void OnFault(int peer) => _all.RemoveAll(one => one.Peer == peer);

    private sealed class Introduction(int peer, ulong nodeId, ulong number, long at)
    {
        public int Peer { get; } = peer;

        public ulong NodeId { get; } = nodeId;

        public ulong Number { get; } = number;

        public long At { get; } = at;

        public bool Answered { get; set; }
    }
}
