using GroupCore.Membership;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>The log takes no entries while the lead is handed over, or when too much is uncommitted. An exclusion that it refuses must not be lost.</summary>
public sealed class RefusedExclusionTests
{
    /// <summary>Requests come in every turn, so no turn is without work.</summary>
    [Fact]
    public void An_exclusion_that_the_log_refused_is_decided_again()
    {
        var leader = new LoneLeader(4);
        var replica = leader.Replica;
        ProcessId busy = leader.IdOf(2), suspected = leader.IdOf(4);
        // There is no such process, so the lead stays here.
        replica.Log.Leading!.TransferTo(99);
        // An exclusion for silence is decided only when a majority has confirmed that this replica leads.
        for (int turns = 0; turns < 3; turns++)
        {
            Suspect();
            leader.Turn();
        }
        Assert.True(replica.State.IsAlive(suspected));
        leader.Bus.Pass(Durations.Second);
        for (ulong number = 1; number <= 20; number++)
        {
            replica.Services.OnRequest(0, LogBus.ReplicaOf(2), new(busy, number, number, new Join($"g{number}", new(), 0, "")));
            Suspect();
            leader.Turn();
            leader.Bus.Pass(5 * Durations.Millisecond);
        }
        Assert.False(replica.State.IsAlive(suspected));

        void Suspect()
        {
            for (ulong node = 1; node <= 3; node++) replica.Services.OnSuspect(0, LogBus.ReplicaOf(node), new(suspected, false, Suspicion.Timeout, 0));
        }
    }

    /// <summary>A process departs again, in more requests than one entry takes. The log takes the first entry, and is full then.</summary>
    [Fact]
    public void A_process_whose_exclusion_is_in_the_log_is_no_member_though_the_log_refused_a_second_one()
    {
        var leader = new LoneLeader(2);
        var replica = leader.Replica;
        var goer = leader.IdOf(2);
        while (replica.Log.Entries.LastIndex - replica.Log.Commit < 8_191) Assert.True(replica.Log.Leading!.TryAppend(OperationCodec.WriteEntry([])));
        for (ulong number = 1; number <= 300; number++) replica.Services.OnRequest(0, LogBus.ReplicaOf(2), new(goer, number, number, new Depart(true)));
        replica.Services.EndOfTurn();
        Assert.False(replica.Log.Leading!.TryAppend([]));
        Assert.True(replica.Services.IsExcluding(goer));
        replica.Log.EndOfTurn();
        Assert.False(replica.State.IsAlive(goer));
    }
}
