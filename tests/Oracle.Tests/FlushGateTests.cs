using GroupCore.Membership;
using GroupCore.Runtime;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>Finished flushes of groups whose excluded members may still act wait at the leader, and go when those are proved dead.</summary>
public sealed class FlushGateTests
{
    private const int Failed = 40, Groups = 200;

    [Fact]
    public void Many_that_are_proved_dead_together_cost_one_look_at_what_waits()
    {
        var bus = new LogBus(Rule.None);
        var part = bus.Add(1);
        var replica = new OracleReplica(part, new(), new(part), () => { }, () => { });
        replica.Log.Found(LogBus.ReplicaOf(1));
        for (ulong node = 1; node <= Failed + 1; node++)
            replica.Shell.OnRequest(0, LogBus.ReplicaOf(node), new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second)));
        for (int turn = 0; turn < 10; turn++) Turn();
        var self = replica.State.FindNode(1)!.Id;
        ProcessId[] others = [.. Enumerable.Range(2, Failed).Select(node => replica.State.FindNode((ulong)node)!.Id)];
        for (int i = 0; i < Groups; i++) Append(new Create($"g{i:000}", new() { StrictPrimary = true }, 0, [self, others[i % Failed]]), self, (ulong)i + 1);
        // Their leases are those that the leader granted.
        for (int i = 0; i < Failed; i++) replica.Shell.OnLeaseAsk(0, LogBus.ReplicaOf((ulong)i + 2), new(others[i], bus.Parts[1].Now, 0));
        Turn();
        Turn();
        Append(new Fail([.. others.Select(static id => new Failure(id, false))]), default, 0);
        ulong number = 1_000;
        foreach (var group in replica.State.Groups.ToList())
            replica.Shell.OnRequest(0, LogBus.ReplicaOf(1), new(self, ++number, number, new Done(group.Id, group.View.Id, group.Pending!.Number, [self])));
        Turn();
        Turn();
        Assert.All(replica.State.Groups, static group => Assert.Equal(2, group.View.Members.Count));
        long before = replica.Shell.FlushesLooked;
        Append(new Fail([.. others.Select(static id => new Failure(id, true))]), default, 0);
        Turn();
        Turn();
        Assert.All(replica.State.Groups, static group => Assert.Single(group.View.Members));
        Assert.InRange(replica.Shell.FlushesLooked - before, Groups, 2 * Groups);

        void Turn()
        {
            replica.Shell.EndOfTurn();
            replica.Log.EndOfTurn();
        }

        void Append(Operation operation, ProcessId requester, ulong number)
        {
            Assert.True(replica.Log.Leading!.TryAppend(OperationCodec.WriteEntry([new(requester, number, number, operation)])));
            replica.Log.EndOfTurn();
        }
    }
}
