using GroupCore.Runtime;
using Ida.Testing.Checking;

namespace GroupCore.Tests.Groups;

/// <summary>Each rule of views and messages (views-and-flush.md#rules, multicast.md#rules) that is left out shows in a bounded number of schedules: the checkers see what they are
/// for.</summary>
public sealed class NegativeControlTests
{
    private const int Seeds = 150;
    private const string NotSettled = "members stay wedged or without state";

    private static void Shows(Rule rule, Scenario scenario, GroupGuarantee broken, int seeds = Seeds) => Shows(rule, scenario, broken.ToString(), seeds);

    private static void Shows(Rule rule, Scenario scenario, string anomaly, int seeds = Seeds) =>
        Assert.True(scenario.FirstWithout(rule, anomaly, seeds) is not null, $"{rule} left out: none of {seeds} schedules shows '{anomaly}'.");

    [Fact]
    public void Without_R1_data_after_the_report_differs_from_the_cut() => Shows(Rule.R1RefuseDataWhenWedged, GroupScenarios.Cascades, GroupGuarantee.VirtualSynchrony);

    [Fact]
    public void Without_R3_the_cut_misses_what_a_survivor_has() => Shows(Rule.R3AllReports, GroupScenarios.Cascades, GroupGuarantee.NoLoss);

    [Fact]
    public void Without_R5_the_order_of_a_survivor_is_cut_short() => Shows(Rule.R5LongestOrder, GroupScenarios.Cascades, GroupGuarantee.TotalOrder);

    [Fact]
    public void Without_R7_a_member_installs_without_the_cut() => Shows(Rule.R7PullsBeforeAck, GroupScenarios.Cascades, GroupGuarantee.VirtualSynchrony);

    [Fact]
    public void Without_R7_for_peers_a_message_outlives_its_view() => Shows(Rule.R7PeerMessagesBeforeAck, GroupScenarios.Chains, GroupGuarantee.PeerMessages);

    [Fact]
    public void Without_R8_a_member_installs_unprepared() => Shows(Rule.R8AllAcks, GroupScenarios.Cascades, NotSettled);

    [Fact]
    public void Without_A3_a_superseded_flush_counts() => Shows(Rule.A3PendingProposalOnly, GroupScenarios.Cascades, GroupGuarantee.VirtualSynchrony);

    [Fact]
    public void Without_R9_an_old_cut_blocks_the_flush() => Shows(Rule.R9FreshReports, GroupScenarios.Cascades, NotSettled);

    [Fact]
    public void Without_R13_a_chain_outlives_its_view() => Shows(Rule.R13NestedAcks, GroupScenarios.Chains, GroupGuarantee.PeerMessages, 400);

    [Fact]
    public void Without_R16_a_joiner_has_another_state() => Shows(Rule.R16CheckpointAtEvent, GroupScenarios.Joins, GroupGuarantee.StateTransfer);

    [Fact]
    public void A_flush_that_discards_loses_messages() => Shows(Rule.FlushDelivers, GroupScenarios.Cascades, GroupGuarantee.NoLoss);
}
