using GroupCore.Membership;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>View completions of groups whose excluded members may still act wait at the leader. They proceed when those members are proved dead.</summary>
public sealed class LeaseFenceTests
{
    private const int Failed = 40, Groups = 200;

    /// <summary>
    /// A view completion is kept for as long as a lease lasts, and then goes into the log. If it could name arbitrary ids, it could hold as many as a group can have members.
    /// </summary>
    [Theory]
    [InlineData(2, true)]
    [InlineData(3, false)]
    public void A_view_completion_names_as_many_as_the_view_has_at_most(int named, bool taken)
    {
        var leader = new LoneLeader(2);
        var replica = leader.Replica;
        var (self, other) = (leader.IdOf(1), leader.IdOf(2));
        Append(new Create("pair", new() { StrictPrimary = true }, 0, [self, other]), self, 1);
        replica.Services.OnLeaseAsk(0, LogBus.ReplicaOf(2), new(other, leader.Bus.Parts[1].Now, 0));
        leader.Turn();
        leader.Turn();
        Append(new Exclude([new(other, false)]), default, 0);
        var group = replica.State.Groups.Single();
        replica.Services.OnRequest(0, LogBus.ReplicaOf(1), new(self, 2, 2, new ViewCompletion(group.Id, group.View.Id, group.Pending!.Number, [self, .. Enumerable.Range(100, named - 1).Select(static node => new ProcessId((ulong)node, 9))])));
        Assert.Equal((taken ? 1 : 0, taken ? 0L : 1L), (replica.Services.Held.Requests, leader.Bus.Parts[1].Counters.Refused(GroupCore.Runtime.RefusalReason.NotEntitled)));

        void Append(Operation operation, ProcessId requester, ulong number)
        {
            Assert.True(replica.Log.Leading!.TryAppend(OperationCodec.WriteEntry([new(requester, number, number, operation)])));
            replica.Log.EndOfTurn();
        }
    }

    [Fact]
    public void Many_that_are_proved_dead_together_cost_one_look_at_what_waits()
    {
        var leader = new LoneLeader(Failed + 1);
        var replica = leader.Replica;
        var self = leader.IdOf(1);
        ProcessId[] others = [.. Enumerable.Range(2, Failed).Select(node => leader.IdOf((ulong)node))];
        for (int i = 0; i < Groups; i++) Append(new Create($"g{i:000}", new() { StrictPrimary = true }, 0, [self, others[i % Failed]]), self, (ulong)i + 1);
        // The leader granted their leases itself.
        for (int i = 0; i < Failed; i++) replica.Services.OnLeaseAsk(0, LogBus.ReplicaOf((ulong)i + 2), new(others[i], leader.Bus.Parts[1].Now, 0));
        leader.Turn();
        leader.Turn();
        Append(new Exclude([.. others.Select(static id => new Exclusion(id, false))]), default, 0);
        ulong number = 1_000;
        foreach (var group in replica.State.Groups.ToList())
            replica.Services.OnRequest(0, LogBus.ReplicaOf(1), new(self, ++number, number, new ViewCompletion(group.Id, group.View.Id, group.Pending!.Number, [self])));
        leader.Turn();
        leader.Turn();
        Assert.All(replica.State.Groups, static group => Assert.Equal(2, group.View.Members.Count));
        long before = replica.Services.CompletionsLooked;
        Append(new Exclude([.. others.Select(static id => new Exclusion(id, true))]), default, 0);
        leader.Turn();
        leader.Turn();
        Assert.All(replica.State.Groups, static group => Assert.Single(group.View.Members));
        Assert.InRange(replica.Services.CompletionsLooked - before, Groups, 2 * Groups);

        void Append(Operation operation, ProcessId requester, ulong number)
        {
            Assert.True(replica.Log.Leading!.TryAppend(OperationCodec.WriteEntry([new(requester, number, number, operation)])));
            replica.Log.EndOfTurn();
        }
    }
}
