using GroupCore.Membership;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>The log takes nothing while the lead is handed over, or when too much is uncommitted.</summary>
public sealed class RefusedExclusionTests
{
    /// <summary>Requests come in every turn, so that there is never one without work.</summary>
    [Fact]
    public void An_exclusion_that_the_log_refused_is_decided_again()
    {
        var leader = new LoneLeader(4);
        var replica = leader.Replica;
        ProcessId busy = leader.IdOf(2), suspected = leader.IdOf(4);
        // Nobody of that name is there: the lead stays here.
        replica.Log.Leading!.TransferTo(99);
        // What silence says is decided once a majority has confirmed that this one leads.
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

    /// <summary>A process says goodbye again, in more requests than one entry takes; the log takes the first entry, and is full then.</summary>
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
