using GroupCore.Runtime;

namespace GroupCore.Tests.Groups;

/// <summary>Each rule of groupcore-oracle 12.5 that is left out shows in a bounded number of schedules: the checkers see what they are for.</summary>
public sealed class NegativeControlTests
{
    private const int Seeds = 150;

    private static readonly RandomSchedule s_general = new() { FaultEvery = 120, FailTogether = 0.5, SlowFactor = 60 };
    private static readonly RandomSchedule s_chains = new() { FaultEvery = 100, Peer = 60, Fifo = 1, Ordered = 1, Flush = 0, Large = 0, Hops = 12, SlowFactor = 80 };
    private static readonly RandomSchedule s_joins = new() { Join = 12, StateBytes = 40_000, CallEvery = 1_000 };

    private static void Shows(Rule rule, RandomSchedule schedule)
    {
        for (ulong seed = 1; seed <= Seeds; seed++)
            if (schedule.Run(seed, rule).Violation is not null) return;
        Assert.Fail($"{rule} left out: nothing was found in {Seeds} schedules.");
    }

    [Fact]
    public void Without_R1_data_after_the_report_differs_from_the_cut() => Shows(Rule.R1RefuseDataWhenWedged, s_general);

    [Fact]
    public void Without_R3_the_cut_misses_what_a_survivor_has() => Shows(Rule.R3AllReports, s_general);

    [Fact]
    public void Without_R5_the_order_of_a_survivor_is_cut_short() => Shows(Rule.R5LongestOrder, s_general);

    [Fact]
    public void Without_R7_a_member_installs_without_the_cut() => Shows(Rule.R7PullsBeforeAck, s_general);

    [Fact]
    public void Without_R7_for_peers_a_message_outlives_its_view() => Shows(Rule.R7PeerMessagesBeforeAck, s_chains);

    [Fact]
    public void Without_R8_a_member_installs_unprepared() => Shows(Rule.R8AllAcks, s_general);

    [Fact]
    public void Without_A3_a_superseded_flush_counts() => Shows(Rule.A3PendingProposalOnly, s_general);

    [Fact]
    public void Without_R9_an_old_cut_blocks_the_flush() => Shows(Rule.R9FreshReports, s_general);

    [Fact]
    public void Without_R13_a_chain_outlives_its_view() => Shows(Rule.R13NestedAcks, s_chains);

    [Fact]
    public void Without_R16_a_joiner_has_another_state() => Shows(Rule.R16CheckpointAtEvent, s_joins);

    [Fact]
    public void A_flush_that_discards_loses_messages() => Shows(Rule.FlushDelivers, s_general);
}
