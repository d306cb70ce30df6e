using GroupCore.Runtime;
using Oracle.Log;
using Oracle.State.Operations;

namespace Oracle.Tests;

/// <summary>The saved state on its way to a replica whose next entry was cut away.</summary>
public sealed class SnapshotTests
{
    private const int StateBytes = 9_000_000;

    /// <summary>The link holds a fraction of it; what else the replicas say to each other passes.</summary>
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

    /// <summary>Parts and answers are lost with a connection, again and again.</summary>
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

    /// <summary>Whenever the log looks, others have filled the link: it gets a part with each heartbeat.</summary>
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

    /// <summary>A slow link: what a heartbeat put into it stays there over many others.</summary>
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

    /// <summary>It needs seconds for them, and to send them again would only make it longer.</summary>
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

    /// <summary>It may be a gigabyte. What a leader sends that is no more is not gone on with by the next one.</summary>
    [Theory]
    [InlineData("another leads")]
    [InlineData("this one campaigns or votes")]
    [InlineData("it gets what it lacked another way")]
    [InlineData("nobody is heard")]
    public void Half_of_a_state_is_not_kept_when_the_rest_will_not_come(string why)
    {
        var bus = new LogBus(Rule.None);
        bus.Add(2);
        var (leader, log) = (LogBus.ReplicaOf(1), bus[2]);
        log.OnFrame(leader, new SnapshotChunk(3, 10, 3, Configuration.Empty, 0, 1_000, new byte[100]));
        Assert.True(log.IsTakingState);
        if (why == "another leads") log.OnFrame(LogBus.ReplicaOf(3), new AppendRequest(4, 0, 0, [], 0, 0));
        if (why == "this one campaigns or votes") log.OnFrame(LogBus.ReplicaOf(3), new VoteRequest(false, 4, 20, 4, true));
        if (why == "it gets what it lacked another way")
        {
            log.OnFrame(leader, new AppendRequest(3, 0, 0, [.. Enumerable.Repeat(new LogEntry(3, EntryKind.Operations, OperationCodec.WriteEntry([])), 9)], 9, 0));
            Assert.True(log.IsTakingState);
            log.OnFrame(leader, new AppendRequest(3, 9, 3, [new(3, EntryKind.Operations, OperationCodec.WriteEntry([]))], 10, 0));
        }
        if (why == "nobody is heard")
        {
            bus.Pass(3 * Durations.Second);
            log.OnTimer(0);
        }
        Assert.False(log.IsTakingState);
    }

    /// <summary>To save the state costs all of it: what is not committed yet cannot be cut away by it, and is no reason to.</summary>
    [Fact]
    public void A_long_tail_that_is_not_committed_does_not_have_the_state_saved_with_each_commit()
    {
        var bus = new LogBus(Rule.None);
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

    /// <summary>Process 1 leads, and has cut away all that process 2, a new learner, lacks.</summary>
    private static LogBus Behind()
    {
        var bus = new LogBus(Rule.None, new() { SnapshotEntries = 4, SnapshotKeep = 0 }, StateBytes);
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
