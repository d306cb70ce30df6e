using Oracle.Client;
using Oracle.Raft;

namespace Oracle.Tests;

/// <summary>The replicas and the leader that a process knows.</summary>
public sealed class OracleDirectoryTests
{
    private static readonly Replica First = LogBus.ReplicaOf(1), Second = LogBus.ReplicaOf(2), Third = LogBus.ReplicaOf(3), Stranger = LogBus.ReplicaOf(9);
    private readonly LogBus.Part _node = new LogBus().Add(5);
    private readonly OracleDirectory _directory;

    public OracleDirectoryTests()
    {
        _directory = new(_node);
        _directory.Learn(new([First, Second], [Third]));
    }

    [Fact]
    public void A_configuration_without_voters_teaches_nothing()
    {
        Assert.True(new OracleDirectory(_node).IsEmpty);
        _directory.Learn(Configuration.Empty);
        Assert.False(_directory.IsEmpty);
        Assert.Equal(2, _directory.Replicas.Voters.Count);
    }

    [Fact]
    public void A_hint_counts_if_it_names_another_leader()
    {
        Assert.False(_directory.Hint(default));
        Assert.True(_directory.Hint(First));
        Assert.False(_directory.Hint(First));
        Assert.True(_directory.Hint(Second));
        Assert.Equal(Second, _directory.Leader);
    }

    /// <summary>A leader that the local copy of the log hears is believed all the same.</summary>
    [Fact]
    public void A_leader_that_is_doubted_is_the_one_that_is_heard_here()
    {
        _directory.Hint(First);
        _directory.Doubt();
        Assert.Equal(default(Replica), _directory.Leader);
        var replica = new OracleDirectory(_node) { Heard = static () => Second };
        replica.Hint(First);
        replica.Doubt();
        Assert.Equal(Second, replica.Leader);
    }

    [Fact]
    public void What_only_the_leader_can_do_is_asked_of_it_or_else_of_a_voter()
    {
        for (int i = 0; i < 50; i++) Assert.Contains(_directory.Target(), new[] { First, Second });
        _directory.Hint(Stranger);
        Assert.Equal(Stranger, _directory.Target());
    }

    [Fact]
    public void Any_replica_may_be_asked_but_for_one_if_there_is_another()
    {
        var asked = Enumerable.Range(0, 200).Select(_ => _directory.Any(except: 2)).ToHashSet();
        Assert.Equal(new HashSet<Replica> { First, Third }, asked);
        _directory.Learn(new([Second], []));
        Assert.Equal(Second, _directory.Any(except: 2));
    }

    /// <summary>A process that is told of a replica may be able to reach it only at the replica's own address.</summary>
    [Fact]
    public void A_replica_has_the_address_that_the_replicas_know()
    {
        foreach (var replica in (Replica[])[First, Second, Third]) Assert.Equal(replica, _directory.NameOf(replica.Node, new("through.a.proxy:1")));
        Assert.Equal(new Replica(9, new("through.a.proxy:1")), _directory.NameOf(9, new("through.a.proxy:1")));
        _directory.Hint(Stranger);
        Assert.Equal(Stranger, _directory.NameOf(9, new("through.a.proxy:1")));
    }

    [Fact]
    public void The_leader_and_the_replicas_are_known_and_learners_do_not_lead()
    {
        _directory.Hint(Stranger);
        Assert.Equal([true, true, true, false, true], new ulong[] { 1, 2, 3, 4, 9 }.Select(_directory.Knows));
        Assert.Equal([true, true, false, false, true], new ulong[] { 1, 2, 3, 4, 9 }.Select(_directory.MayLead));
        Assert.Equal([Stranger.Address, First.Address, Second.Address, Third.Address], _directory.Addresses);
    }
}
