using GroupCore.Runtime;
using GroupCore.Transport;
using Oracle.Raft;

namespace Oracle.Client;

/// <summary>The replicas of the Oracle and its leader, as far as this process knows. Old knowledge costs a redirection, nothing more.</summary>
internal sealed class OracleDirectory(INode node)
{
    public Configuration Replicas { get; private set; } = Configuration.Empty;

    /// <summary>The believed leader; node 0 while unknown.</summary>
    public Replica Leader { get; private set; }

    /// <summary>The leader that the copy of the Oracle in this process hears; node 0 without one.</summary>
    public Func<Replica> Heard { get; init; } = static () => default;

    public bool IsEmpty => Replicas.Voters.Count == 0;

    /// <summary>Addresses of the leader and the replicas, as far as known.</summary>
    public IEnumerable<NodeAddress> Addresses
    {
        get
        {
            if (Leader.Node != 0) yield return Leader.Address;
            foreach (var voter in Replicas.Voters) yield return voter.Address;
            foreach (var learner in Replicas.Learners) yield return learner.Address;
        }
    }

    /// <summary>Whether this node is the leader or a replica, as far as this process knows.</summary>
    public bool Knows(ulong nodeId) => nodeId == Leader.Node || Replicas.Contains(nodeId);

    public bool MayLead(ulong nodeId) => nodeId == Leader.Node || Replicas.IsVoter(nodeId);

    /// <summary>
    /// A node and its address. For a replica this is the address that the replicas know, not the one at which this process happens to reach it, as a seed or
    /// through a proxy: a process that is told of a leader may reach it only at its own address.
    /// </summary>
    public Replica NameOf(ulong nodeId, NodeAddress reached)
    {
        foreach (var voter in Replicas.Voters)
            if (voter.Node == nodeId) return voter;
        foreach (var learner in Replicas.Learners)
            if (learner.Node == nodeId) return learner;
        return nodeId == Leader.Node ? Leader : new(nodeId, reached);
    }

    public void Learn(Configuration replicas)
    {
        if (replicas.Voters.Count > 0) Replicas = replicas;
    }

    /// <summary>Takes a hint; true when it names another leader than the one known.</summary>
    public bool Hint(in Replica leader)
    {
        if (leader.Node == 0 || leader == Leader) return false;
        Leader = leader;
        return true;
    }

    /// <summary>The believed leader did not answer, or says that it does not lead. A leader that the local copy of the log hears is believed all the same.</summary>
    public void Doubt() => Leader = Heard();

    /// <summary>The replica to ask for something that only the leader can do.</summary>
    public Replica Target() => Leader.Node != 0 ? Leader : Voter();

    /// <summary>Any replica, voters and learners alike; not <paramref name="except"/> if there is another.</summary>
    public Replica Any(ulong except)
    {
        int count = Replicas.Voters.Count + Replicas.Learners.Count, place = node.Random.Next(count);
        return At(place) is var any && any.Node != except ? any : At((place + 1) % count);
    }

    private Replica At(int place) => place < Replicas.Voters.Count ? Replicas.Voters[place] : Replicas.Learners[place - Replicas.Voters.Count];

    private Replica Voter() => Replicas.Voters[node.Random.Next(Replicas.Voters.Count)];
}
