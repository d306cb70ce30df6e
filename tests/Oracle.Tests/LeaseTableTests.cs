using Oracle.Leading;
using Oracle.Raft;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>What a leader may assume about leases when it is frozen within a turn. Such a turn reads frames that came after the turn's time.</summary>
public sealed class LeaseTableTests
{
    private const long Freeze = 5 * Durations.Second;
    private static readonly OracleOptions Options = new();

    /// <summary>The leader votes alone, so a question needs no read round and is answered in the turn that read it.</summary>
    [Fact]
    public void A_lease_is_counted_from_when_it_is_granted_not_from_the_time_of_the_turn()
    {
        var bus = new LogBus();
        var part = bus.Add(1);
        part.Log.Found(LogBus.ReplicaOf(1));
        bus.Settle();
        var state = new OracleState(new OracleReplica(part, Options, new(part), () => { }, () => { }), OracleRules.All);
        state.Apply(1, OperationCodec.WriteEntry([new(default, 0, 0, new Register(2, LogBus.ReplicaOf(2).Address, "", "", 0, 0, Durations.Second))]));
        var asker = state.FindNode(2)!.Id;
        var table = new LeaseTable(part, OracleRules.All, new(part));
        table.Begin(part.Log.Leading!.Since, assumeLeases: false);
        part.Frozen = Freeze;
        table.Ask(part.Log.Leading, new(asker, 1, 0), 0);
        part.Log.EndOfTurn();
        table.Grant(part.Log, state, [], new());
        Assert.Equal(part.Now + Freeze + Durations.Second, table.EndOf(asker, Durations.Second));
    }

    /// <summary>The votes that made it leader came during the freeze; until then its predecessor may have granted leases.</summary>
    [Fact]
    public void A_leadership_begins_when_it_was_won_not_at_the_time_of_the_turn()
    {
        var bus = Voters();
        bus.Connect(2, 3);
        bus.Parts[2].Frozen = Freeze;
        bus.Campaign(2);
        Assert.Equal(bus.Parts[2].Now + Freeze, bus[2].Leading!.Since);
    }

    /// <summary>Otherwise a deposed leader that does not know of its successor would grant leases to a process, while the successor installs a view without it.</summary>
    [Fact]
    public void No_lease_is_granted_before_a_majority_has_said_that_the_leader_leads()
    {
        var bus = Voters();
        var leader = bus[1].Leading!;
        var state = StateOf(bus.Parts[1]);
        var table = new LeaseTable(bus.Parts[1], OracleRules.All, new(bus.Parts[1]));
        bus.Connect(1);
        table.Ask(leader, new(state.FindNode(2)!.Id, 1, 0), 0);
        bus.Settle();
        table.Grant(bus[1], state, [], new());
        Assert.Equal(0, table.Count);
        bus.Connect(1, 2);
        leader.OnTimer();
        bus.Settle();
        table.Grant(bus[1], state, [], new());
        Assert.Equal(1, table.Count);
    }

    /// <summary>Answers to a round say nothing about the time after the round was sent, and the second question came in that time.</summary>
    [Fact]
    public void A_lease_waits_for_a_round_that_began_after_the_question()
    {
        var bus = Voters();
        var leader = bus[1].Leading!;
        var state = StateOf(bus.Parts[1]);
        var table = new LeaseTable(bus.Parts[1], OracleRules.All, new(bus.Parts[1]));
        ulong before = leader.ConfirmedRead;
        table.Ask(leader, new(state.FindNode(2)!.Id, 1, 0), 0);
        leader.EndOfTurn();
        table.Ask(leader, new(state.FindNode(3)!.Id, 1, 0), 0);
        bus.SettleUntil(() => leader.ConfirmedRead > before);
        table.Grant(bus[1], state, [], new());
        Assert.Equal(1, table.Count);
        leader.OnTimer();
        bus.Settle();
        table.Grant(bus[1], state, [], new());
        Assert.Equal(2, table.Count);
    }

    /// <summary>
    /// A majority answers the new leader's first round, but does not have its first entry yet. An entry of an earlier leader may still be committed, even the exclusion of the
    /// asker.
    /// </summary>
    [Fact]
    public void A_new_leader_grants_no_lease_before_an_entry_of_its_term_is_committed()
    {
        var bus = Voters();
        bus.Connect(2, 3);
        bus.Campaign(2, until: () => bus[2].Leading is not null);
        var leader = bus[2].Leading!;
        var state = StateOf(bus.Parts[2]);
        var table = new LeaseTable(bus.Parts[2], OracleRules.All, new(bus.Parts[2]));
        table.Ask(leader, new(state.FindNode(3)!.Id, 1, 0), 0);
        ulong round = leader.BeginRead();
        leader.EndOfTurn();
        bus[2].OnFrame(LogBus.ReplicaOf(3), new AppendReply(bus[2].Term, false, bus[3].Entries.LastIndex, round));
        table.Grant(bus[2], state, [], new());
        Assert.Equal(0, table.Count);
        bus.Settle();
        table.Grant(bus[2], state, [], new());
        Assert.Equal(1, table.Count);
    }

    /// <summary>The view without the process waits for the lease that it has; it must get no further one.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_process_whose_exclusion_is_decided_or_applied_gets_no_lease(bool applied)
    {
        var bus = Voters();
        var state = StateOf(bus.Parts[1]);
        var (asker, other) = (state.FindNode(2)!.Id, state.FindNode(3)!.Id);
        // A view names the process, so its record stays.
        state.Apply(4, OperationCodec.WriteEntry([new(other, 1, 1, new Create("g", new(), 0, [asker, other]))]));
        if (applied) state.Apply(5, OperationCodec.WriteEntry([new(default, 0, 0, new Exclude([new(asker, false)]))]));
        Assert.NotNull(state.Find(asker));
        var table = new LeaseTable(bus.Parts[1], OracleRules.All, new(bus.Parts[1]));
        table.Ask(bus[1].Leading!, new(asker, 1, 0), 0);
        bus.Settle();
        table.Grant(bus[1], state, applied ? [] : [asker], new());
        Assert.Equal(0, table.Count);
    }

    /// <summary>Three voters, of which 1 leads.</summary>
    private static LogBus Voters()
    {
        var bus = new LogBus();
        for (ulong node = 1; node <= 3; node++) bus.Add(node);
        bus[1].Found(LogBus.ReplicaOf(1));
        bus.Settle();
        foreach (ulong node in (ulong[])[2, 3])
        {
            bus[1].Leading!.TryChange(bus[1].Entries.Configuration.WithLearner(LogBus.ReplicaOf(node)));
            bus.Settle();
            bus[1].Leading!.TryChange(bus[1].Entries.Configuration.Promote(LogBus.ReplicaOf(node)));
            bus.Settle();
        }
        return bus;
    }

    /// <summary>The three voters are registered.</summary>
    private static OracleState StateOf(LogBus.Part part)
    {
        var state = new OracleState(new OracleReplica(part, Options, new(part), () => { }, () => { }), OracleRules.All);
        for (ulong node = 1; node <= 3; node++)
            state.Apply(node, OperationCodec.WriteEntry([new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second))]));
        return state;
    }
}
