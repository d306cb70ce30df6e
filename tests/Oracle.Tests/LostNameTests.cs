using GroupCore.Membership;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>The leader releases the names of lost groups: it proposes each once, however long the log takes.</summary>
public sealed class LostNameTests
{
    private const int Groups = 600;
    private const int Once = 256;
    private readonly LogBus _bus = new();
    private readonly OracleReplica _replica;

    /// <summary>One replica, and groups of one process that was cut off.</summary>
    public LostNameTests()
    {
        var part = _bus.Add(1);
        _replica = new(part, new(), new(part), () => { }, () => { });
        _replica.Log.Found(LogBus.ReplicaOf(1));
        for (ulong node = 1; node <= 2; node++)
            _replica.Services.OnRequest(0, LogBus.ReplicaOf(node), new(default, 0, 0, new Register(node, LogBus.ReplicaOf(node).Address, "", "", 0, 0, Durations.Second)));
        // Until the configuration needs no further step.
        for (int turn = 0; turn < 10; turn++) Turn();
        var lone = _replica.State.FindNode(2)!.Id;
        for (ulong number = 1; number <= Groups; number++) Append(new Create($"own{number:000}", new(), 0, [lone]), number);
        Append(new Create("both", new(), 0, [_replica.State.FindNode(1)!.Id, lone]), Groups + 1);
        // The leader granted its lease itself.
        _replica.Services.OnLeaseAsk(0, LogBus.ReplicaOf(2), new(lone, _bus.Parts[1].Now, 0));
        Turn();
        Turn();
        Append(new Exclude([new(lone, false)]), 0);
        Assert.Equal(Groups, _replica.State.Lost.Count);
    }

    [Fact]
    public void Each_name_is_proposed_once_while_commits_are_slow()
    {
        Wait();
        for (int tick = 1; tick <= 10; tick++)
        {
            Tick();
            Assert.Equal(Math.Min(Groups, tick * Once), Proposed().Count);
        }
        Assert.Equal(Groups, Proposed().Distinct().Count());
        _replica.Log.EndOfTurn();
        Assert.Empty(_replica.State.Lost);
        Tick();
        Assert.Equal(Groups, Proposed().Count);
    }

    [Fact]
    public void A_name_that_the_log_refused_is_proposed_again()
    {
        Wait();
        // There is no such process, so the lead stays here; meanwhile the log takes nothing.
        _replica.Log.Leading!.TransferTo(99);
        for (int tick = 0; tick < 5; tick++) Tick();
        Assert.Empty(Proposed());
        _bus.Pass(Durations.Second);
        for (int tick = 0; tick < 5; tick++) Tick();
        Assert.Equal(Groups, Proposed().Count);
        _replica.Log.EndOfTurn();
        Assert.Empty(_replica.State.Lost);
    }

    /// <summary>At first no name is due, and later all are in the log. In both cases a tick looks at none of them.</summary>
    [Fact]
    public void Names_that_are_not_due_or_on_their_way_cost_a_tick_nothing()
    {
        long before = _replica.Services.NamesLooked;
        Wait();
        Assert.Equal(before, _replica.Services.NamesLooked);
        for (int tick = 0; tick < 10; tick++) Tick();
        Assert.Equal(before, _replica.Services.NamesLooked);
    }

    /// <summary>The process itself says that it has stopped, once it hears of its exclusion.</summary>
    [Fact]
    public void Names_of_a_process_that_is_proved_dead_meanwhile_wait_for_nothing()
    {
        // The process has a record while it is a member of the group of two, that is, until the view without it is decided.
        Assert.NotNull(_replica.State.FindNode(2));
        var lone = _replica.State.FindNode(2)!.Id;
        _replica.Services.OnRequest(0, LogBus.ReplicaOf(2), new(lone, ulong.MaxValue, 0, new Depart(true)));
        Turn();
        Tick();
        Assert.Equal(Once, Proposed().Count);
    }

    private void Wait()
    {
        for (int tick = 0; tick < 9; tick++) Tick();
        Assert.Empty(Proposed());
        _bus.Pass(Durations.Second);
    }

    /// <summary>A tick of the leader; nothing that it appends is committed.</summary>
    private void Tick()
    {
        _bus.Pass(100 * Durations.Millisecond);
        _replica.Services.Tick();
        _replica.Services.EndOfTurn();
    }

    private void Turn()
    {
        _replica.Services.EndOfTurn();
        _replica.Log.EndOfTurn();
    }

    private void Append(Operation operation, ulong number)
    {
        Assert.True(_replica.Log.Leading!.TryAppend(OperationCodec.WriteEntry([new(number > 0 ? _replica.State.FindNode(2)!.Id : default, number, number, operation)])));
        _replica.Log.EndOfTurn();
    }

    private List<GroupId> Proposed()
    {
        var proposed = new List<GroupId>();
        var log = _replica.Log;
        for (ulong index = log.Entries.Base + 1; index <= log.Entries.LastIndex; index++)
        {
            if (log.Entries[index] is not { Kind: Raft.EntryKind.Operations, Content: var content }) continue;
            foreach (var request in OperationCodec.ReadEntry(content))
                if (request.Operation is Release release) proposed.Add(release.Group);
        }
        return proposed;
    }
}
