using GroupCore.Membership;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>Operations that meet in one entry, or at a group whose view is changing already (oracle.md#a2-a-join-waits-for-the-pending-proposal, #a3-only-the-pending-proposal-completes).</summary>
public sealed class OneEntryTests
{
    private readonly OracleState _state;
    private ulong _index;
    private ulong _number;

    public OneEntryTests()
    {
        var node = new LogBus().Add(1);
        _state = new(new OracleReplica(node, new(), new(node), () => { }, () => { }), OracleRules.All);
    }

    /// <summary>If the first operation got a proposal of its own, the others would have to wait for the next view.</summary>
    [Fact]
    public void A2_the_operations_of_one_entry_on_a_group_are_one_proposal()
    {
        var (group, ids) = Group(2);
        var (third, fourth) = (Register(8), Register(9));
        Apply(Of(third, new Join("g", new(), 0, "")), Of(ids[1], new Leave(group.Id)), Of(fourth, new Join("g", new(), 0, "")));
        var proposal = group.Pending!.Proposal;
        Assert.Equal([third, fourth], proposal.Joiners.Select(static joiner => joiner.Id));
        Assert.Equal([ids[1]], proposal.Leavers);
    }

    /// <summary>The requested view is already on its way. The renewal neither restarts its flush nor causes another view after it.</summary>
    [Fact]
    public void A2_a_renewal_that_comes_while_a_proposal_is_pending_has_no_effect_of_its_own()
    {
        var (group, ids) = Group(2);
        Apply(Of(Register(9), new Join("g", new(), 0, "")));
        ulong pending = group.Pending!.Number;
        Apply(Of(ids[1], new Renew(group.Id, 1)));
        Assert.Equal(pending, group.Pending!.Number);
        Apply(Of(ids[0], new ViewCompletion(group.Id, 1, pending, ids)));
        Assert.Equal(2UL, group.View.Id);
        Assert.Null(group.Pending);
    }

    /// <summary>The survivors' flush still included the excluded member. The proposal without it is built at the end of the entry.</summary>
    [Fact]
    public void A3_a_flush_does_not_count_behind_an_exclusion_in_its_entry()
    {
        var (group, ids) = Group(4);
        Apply(Of(ids[0], new Renew(group.Id, 1)));
        ulong pending = group.Pending!.Number;
        Apply(new(default, 0, 0, new Exclude([new(ids[2], false)])), Of(ids[0], new ViewCompletion(group.Id, 1, pending, ids)));
        Assert.Equal(1UL, group.View.Id);
        Assert.Equal(_index, group.Pending!.Number);
        Assert.Equal([ids[0], ids[1], ids[3]], group.Pending.Proposal.Survivors);
    }

    private Request Of(ProcessId requester, Operation operation) => new(requester, ++_number, 0, operation);

    private void Apply(params Request[] requests) => _state.Apply(++_index, OperationCodec.WriteEntry(requests));

    private ProcessId Register(ulong node)
    {
        Apply(new Request(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second)));
        return _state.FindNode(node)!.Id;
    }

    private (GroupRecord Group, List<ProcessId> Ids) Group(int members)
    {
        var ids = Enumerable.Range(1, members).Select(node => Register((ulong)node)).ToList();
        Apply(Of(ids[0], new Create("g", new(), 0, ids)));
        return (_state.FindGroup("g")!, ids);
    }
}
