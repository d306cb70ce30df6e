namespace Oracle.Raft;

/// <summary>The voters and the learners. Two configurations that follow each other differ by one replica, so their majorities meet.</summary>
internal sealed class Configuration(IReadOnlyList<Replica> voters, IReadOnlyList<Replica> learners)
{
    public static readonly Configuration Empty = new([], []);

    public IReadOnlyList<Replica> Voters { get; } = voters;

    public IReadOnlyList<Replica> Learners { get; } = learners;

    public bool IsVoter(ulong node) => Has(Voters, node);

    public bool IsLearner(ulong node) => Has(Learners, node);

    public bool Contains(ulong node) => IsVoter(node) || IsLearner(node);

    public Configuration WithLearner(Replica replica) => new(Voters, [.. Learners, replica]);

    public Configuration Promote(Replica replica) => new([.. Voters, replica], Without(Learners, replica.Node));

    public Configuration Demote(Replica replica) => new(Without(Voters, replica.Node), [.. Learners, replica]);

    public Configuration Remove(ulong node) => new(Without(Voters, node), Without(Learners, node));

    public override string ToString() => $"voters [{string.Join(' ', Voters.Select(v => v.Address))}] learners [{string.Join(' ', Learners.Select(v => v.Address))}]";

    private static bool Has(IReadOnlyList<Replica> list, ulong node)
    {
        foreach (var replica in list)
            if (replica.Node == node) return true;
        return false;
    }

    private static List<Replica> Without(IReadOnlyList<Replica> list, ulong node)
    {
        var rest = new List<Replica>(list.Count);
        foreach (var replica in list)
            if (replica.Node != node) rest.Add(replica);
        return rest;
    }
}
