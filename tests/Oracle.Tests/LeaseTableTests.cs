using GroupCore.Runtime;
using Oracle.Leading;
using Oracle.State;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>What a leader that is frozen in a turn may believe of leases. A turn reads what came after its time.</summary>
public sealed class LeaseTableTests
{
    private const long Freeze = 5 * Durations.Second;
    private static readonly OracleOptions Options = new();

    /// <summary>The leader votes alone, so the question needs no round: it is answered in the turn that read it.</summary>
    [Fact]
    public void A_lease_is_counted_from_when_it_is_granted_not_from_the_time_of_the_turn()
    {
        var bus = new LogBus(Rule.None);
        var part = bus.Add(1);
        part.Log.Found(LogBus.ReplicaOf(1));
        bus.Settle();
        var state = new OracleState(new OracleReplica(part, Options, new(part), () => { }, () => { }), Rule.None);
        state.Apply(1, OperationCodec.WriteEntry([new(default, 0, 0, new Register(2, LogBus.ReplicaOf(2).Address, "", "", 0, 0, Durations.Second))]));
        var asker = state.FindNode(2)!.Id;
        var table = new LeaseTable(part, new(part));
        table.Begin(part.Log.Leading!.Since, assumeLeases: false);
        part.Frozen = Freeze;
        table.Ask(part.Log.Leading, new(asker, 1, 0), 0);
        part.Log.EndOfTurn();
        table.Grant(part.Log, state, [], new());
        Assert.Equal(part.Now + Freeze + Durations.Second, table.EndOf(asker, Durations.Second));
    }

    /// <summary>The votes that made it leader came during the freeze, and until then its predecessor granted leases.</summary>
    [Fact]
    public void A_leadership_begins_when_it_was_won_not_at_the_time_of_the_turn()
    {
        var bus = new LogBus(Rule.None);
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
        bus.Connect(2, 3);
        bus.Parts[2].Frozen = Freeze;
        bus.Campaign(2);
        Assert.Equal(bus.Parts[2].Now + Freeze, bus[2].Leading!.Since);
    }
}
