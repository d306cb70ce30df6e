using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>The log takes nothing while the lead is handed over, or when too much is uncommitted.</summary>
public sealed class RefusedExclusionTests
{
    /// <summary>Requests come in every turn, so that there is never one without work.</summary>
    [Fact]
    public void An_exclusion_that_the_log_refused_is_decided_again()
    {
        var bus = new LogBus(Rule.None);
        var part = bus.Add(1);
        var replica = new OracleReplica(part, new(), new(part), () => { }, () => { });
        replica.Log.Found(LogBus.ReplicaOf(1));
        for (ulong node = 1; node <= 4; node++)
            replica.Shell.OnRequest(0, LogBus.ReplicaOf(node), new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second)));
        Turn();
        ProcessId busy = IdOf(2), accused = IdOf(4);
        // Nobody of that name is there: the lead stays here.
        replica.Log.Leading!.TransferTo(99);
        // What silence says is decided once a majority has confirmed that this one leads.
        for (int turns = 0; turns < 3; turns++)
        {
            Accuse();
            Turn();
        }
        Assert.True(replica.State.IsAlive(accused));
        bus.Pass(Durations.Second);
        for (ulong number = 1; number <= 20; number++)
        {
            replica.Shell.OnRequest(0, LogBus.ReplicaOf(2), new(busy, number, number, new Join($"g{number}", new(), 0, "")));
            Accuse();
            Turn();
            bus.Pass(5 * Durations.Millisecond);
        }
        Assert.False(replica.State.IsAlive(accused));

        ProcessId IdOf(ulong node) => replica.State.FindNode(node)!.Id;

        void Accuse()
        {
            for (ulong node = 1; node <= 3; node++) replica.Shell.OnSuspect(0, LogBus.ReplicaOf(node), new(accused, false, Accusation.Timeout, 0));
        }

        void Turn()
        {
            replica.Shell.EndOfTurn();
            replica.Log.EndOfTurn();
        }
    }

    /// <summary>A process says goodbye again, in more requests than one entry takes; the log takes the first entry, and is full then.</summary>
    [Fact]
    public void A_process_whose_exclusion_is_in_the_log_is_no_member_though_the_log_refused_a_second_one()
    {
        var bus = new LogBus(Rule.None);
        var part = bus.Add(1);
        var replica = new OracleReplica(part, new(), new(part), () => { }, () => { });
        replica.Log.Found(LogBus.ReplicaOf(1));
        for (ulong node = 1; node <= 2; node++)
            replica.Shell.OnRequest(0, LogBus.ReplicaOf(node), new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second)));
        // Until nothing is left to do for the configuration.
        for (int turn = 0; turn < 10; turn++)
        {
            replica.Shell.EndOfTurn();
            replica.Log.EndOfTurn();
        }
        var goer = replica.State.FindNode(2)!.Id;
        while (replica.Log.Entries.LastIndex - replica.Log.Commit < 8_191) Assert.True(replica.Log.Leading!.TryAppend(OperationCodec.WriteEntry([])));
        for (ulong number = 1; number <= 300; number++) replica.Shell.OnRequest(0, LogBus.ReplicaOf(2), new(goer, number, number, new Depart(true)));
        replica.Shell.EndOfTurn();
        Assert.False(replica.Log.Leading!.TryAppend([]));
        Assert.True(replica.Shell.IsExcluding(goer));
        replica.Log.EndOfTurn();
        Assert.False(replica.State.IsAlive(goer));
    }
}
