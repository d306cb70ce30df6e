using Oracle.Raft;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>The saved state on its way to a replica whose next entry the leader no longer has.</summary>
public sealed class SnapshotTests
{
    private const int StateBytes = 9_000_000;

    /// <summary>The link holds only a fraction of the state, so the replicas' other frames get through.</summary>
    [Fact]
    public void A_large_state_travels_in_parts_with_heartbeats_between_them()
    {
        var bus = Behind();
        for (int round = 0; round < 100 && bus[2].Applied == 0; round++)
        {
            bus[1].Leading!.OnTimer();
            bus.Settle(rounds: 2);
        }
        bus.Settle();
        Assert.Equal(bus[1].Commit, bus[2].Commit);
        Assert.True(bus.Transfers is { Bytes: <= 1 << 20, Heartbeats: > 5 }, $"{bus.Transfers}");
    }

    /// <summary>Parts and answers are lost with their connection, again and again.</summary>
    [Fact]
    public void A_state_of_which_parts_are_lost_arrives()
    {
        var bus = Behind();
        for (int round = 0; round < 200 && bus[2].Applied == 0; round++)
        {
            bus[1].Leading!.OnTimer();
            bus.Settle(rounds: 1 + (round % 3));
            bus.Connect(1);
            bus.Settle();
            bus.Connect(1, 2);
            bus.Pass(1100 * Durations.Millisecond);
        }
        bus.Settle();
        Assert.Equal(bus[1].Commit, bus[2].Commit);
    }

    /// <summary>Whenever the log wants to send, others have filled the link. Still, one part goes out with each heartbeat.</summary>
    [Fact]
    public void A_state_arrives_over_a_link_that_others_keep_full()
    {
        var bus = Behind();
        bus.HasRoom = false;
        for (int round = 0; round < 100 && bus[2].Applied == 0; round++)
        {
            bus[1].Leading!.OnTimer();
            bus.Settle(rounds: 2);
        }
        bus.Settle();
        Assert.Equal(bus[1].Commit, bus[2].Commit);
        Assert.True(bus.Transfers.Bytes <= 1 << 20, $"{bus.Transfers}");
    }

    /// <summary>On a slow link, the part that one heartbeat put there stays in it during many others.</summary>
    [Fact]
    public void A_heartbeat_adds_no_part_to_a_full_link_in_which_another_still_is()
    {
        var bus = Behind();
        bus.HasRoom = false;
        bus.Settle(rounds: 2);
        for (int round = 0; round < 20; round++) bus[1].Leading!.OnTimer();
        bus.Settle(rounds: 1);
        Assert.InRange(bus.Transfers.Bytes, 1, 256 << 10);
    }

    /// <summary>The link needs seconds for them, and sending them again would make it slower still.</summary>
    [Fact]
    public void Parts_that_wait_in_the_link_are_not_sent_again()
    {
        var bus = Behind();
        bus.Waits = true;
        bus.Settle(rounds: 2);
        for (int round = 0; round < 20; round++)
        {
            bus[1].Leading!.OnTimer();
            bus.Pass(1100 * Durations.Millisecond);
        }
        bus.Settle(rounds: 1);
        Assert.InRange(bus.Transfers.Bytes, 1, 1 << 20);
        bus.Waits = false;
        for (int round = 0; round < 100 && bus[2].Applied == 0; round++)
        {
            bus[1].Leading!.OnTimer();
            bus.Settle(rounds: 2);
        }
        Assert.NotEqual(0UL, bus[2].Applied);
    }

    /// <summary>Saving costs as much as the whole state. Entries that are not committed cannot be cut away by saving, so they must not cause it.</summary>
    [Fact]
    public void A_long_tail_that_is_not_committed_does_not_have_the_state_saved_with_each_commit()
    {
        var bus = new LogBus();
        bus.Add(1);
        bus[1].Found(LogBus.ReplicaOf(1));
        bus.Settle();
        bus.Add(2);
        Assert.True(bus[1].Leading!.TryChange(bus[1].Entries.Configuration.Promote(LogBus.ReplicaOf(2))));
        bus.Settle();
        const int Entries = 96;
        for (int i = 0; i < Entries; i++) Assert.True(bus[1].Leading!.TryAppend(new byte[128 << 10]));
        bus.Settle(rounds: 1_000);
        Assert.Equal(bus[1].Entries.LastIndex, bus[2].Commit);
        // 12 MB in all.
        Assert.Equal((1, 1), (bus.Parts[1].Saves, bus.Parts[2].Saves));
    }

    public enum End
    {
        EntriesCome, AnotherTerm, NobodyLeads,
    }

    /// <summary>The received part may be as large as a whole state, and its sender may never send the rest.</summary>
    [Theory]
    [InlineData(End.EntriesCome)]
    [InlineData(End.AnotherTerm)]
    [InlineData(End.NobodyLeads)]
    public void What_came_of_a_state_is_let_go_of_when_the_rest_will_not_come(End end)
    {
        var bus = Behind();
        var behind = bus[2];
        for (int round = 0; round < 20 && behind.Incoming == 0; round++)
        {
            bus[1].Leading!.OnTimer();
            bus.Settle(rounds: 1);
        }
        Assert.InRange(behind.Incoming, 1, StateBytes - 1);
        ulong term = behind.Term;
        switch (end)
        {
            case End.EntriesCome:
                int entries = (int)bus[1].Saved.Index + 1;
                behind.OnFrame(LogBus.ReplicaOf(1), new AppendRequest(term, 0, 0, [.. Enumerable.Repeat(new LogEntry(term, EntryKind.Noop, []), entries)], (ulong)entries, 0));
                Assert.Equal((ulong)entries, behind.Commit);
                break;
            case End.AnotherTerm:
                behind.OnFrame(LogBus.ReplicaOf(1), new AppendRequest(term + 1, 0, 0, [], 0, 0));
                break;
            default:
                bus.Pass(5 * Durations.Second);
                behind.OnTimer(0);
                Assert.NotEqual(0, behind.Incoming);
                bus.Pass(30 * Durations.Second);
                behind.OnTimer(0);
                break;
        }
        Assert.Equal(0, behind.Incoming);
    }

    /// <summary>Process 1 leads, and has cut away all entries that process 2, a new learner, lacks.</summary>
    private static LogBus Behind()
    {
        var bus = new LogBus(null, new() { SnapshotEntries = 4, SnapshotKeep = 0 }, StateBytes);
        bus.Add(1);
        bus[1].Found(LogBus.ReplicaOf(1));
        bus.Settle();
        for (int i = 0; i < 10; i++)
        {
            Assert.True(bus[1].Leading!.TryAppend(OperationCodec.WriteEntry([])));
            bus.Settle();
        }
        Assert.True(bus[1].Entries.Base > 0);
        bus.Add(2);
        Assert.True(bus[1].Leading!.TryChange(bus[1].Entries.Configuration.WithLearner(LogBus.ReplicaOf(2))));
        return bus;
    }
}
