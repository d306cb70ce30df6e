using GroupCore.Groups;
using Ida.Testing.Checking;

namespace GroupCore.Tests.Groups;

/// <summary>
/// If a rule of views or messages (views-and-flush.md#rules, multicast.md#rules) is left out, a bounded number of schedules shows it: the checkers see what they are for.
/// </summary>
public sealed class NegativeControlTests
{
    private const int Seeds = 150;

    private static void Shows(string rule, Scenario scenario, GroupGuarantee broken, int seeds = Seeds) => Shows(rule, scenario, broken.ToString(), seeds);

    private static void Shows(string rule, Scenario scenario, string anomaly, int seeds = Seeds) =>
        Assert.True(scenario.FirstWithout(rule, anomaly, seeds) is not null, $"{rule} left out: none of {seeds} schedules shows '{anomaly}'.");

    [Fact]
    public void Without_R1_data_after_the_report_differs_from_the_cut() => Shows(nameof(GroupRules.R1RefuseDataWhenWedged), GroupScenarios.Cascades, GroupGuarantee.VirtualSynchrony);

    [Fact]
    public void Without_R3_the_cut_misses_what_a_survivor_has() => Shows(nameof(GroupRules.R3AllReports), GroupScenarios.Cascades, GroupGuarantee.NoLoss);

    [Fact]
    public void Without_R5_the_order_of_a_survivor_is_cut_short() => Shows(nameof(GroupRules.R5LongestOrder), GroupScenarios.Cascades, GroupGuarantee.TotalOrder);

    [Fact]
    public void Without_R7_a_member_installs_without_the_cut() => Shows(nameof(GroupRules.R7PullsBeforeAck), GroupScenarios.Cascades, GroupGuarantee.VirtualSynchrony);

    [Fact]
    public void Without_R7_for_peers_a_message_outlives_its_view() => Shows(nameof(GroupRules.R7PeerMessagesBeforeAck), GroupScenarios.Chains, GroupGuarantee.PeerMessages);

    [Fact]
    public void Without_R8_a_member_stays_behind() => Shows(nameof(GroupRules.R8AllAcks), GroupScenarios.Cascades, GroupSchedule.NotSettled);

    [Fact]
    public void Without_A3_a_superseded_flush_counts() => Shows(GroupCluster.PendingProposalOnly, GroupScenarios.Cascades, GroupSchedule.NotSettled);

    [Fact]
    public void Without_views_in_frames_a_message_counts_in_the_next_view() => Shows(nameof(GroupRules.OldViewRefused), GroupScenarios.Flushes, GroupGuarantee.SendingView);

    [Fact]
    public void Without_R9_an_old_cut_blocks_the_flush() => Shows(nameof(GroupRules.R9FreshReports), GroupScenarios.Cascades, GroupSchedule.NotSettled);

    [Fact]
    public void Without_R13_a_chain_outlives_its_view() => Shows(nameof(GroupRules.R13NestedAcks), GroupScenarios.Chains, GroupGuarantee.PeerMessages, 400);

    [Fact]
    public void Without_R16_a_joiner_has_another_state() => Shows(nameof(GroupRules.R16CheckpointAtEvent), GroupScenarios.Joins, GroupGuarantee.StateTransfer);

    [Fact]
    public void A_flush_that_discards_loses_messages() => Shows(nameof(GroupRules.FlushDelivers), GroupScenarios.Cascades, GroupGuarantee.NoLoss);
}
