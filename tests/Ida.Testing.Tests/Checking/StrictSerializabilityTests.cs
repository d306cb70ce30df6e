using Ida.Testing.Checking;
using static Ida.Testing.Tests.Checking.Tape;

namespace Ida.Testing.Tests.Checking;

/// <summary>For each anomaly, a history that shows it and must fail with that verdict, and a similar one that must pass.</summary>
public sealed class StrictSerializabilityTests
{
    private static readonly HistoryValue None = HistoryValue.Absent;

    private static void Passes(Tape tape, bool realTime = true)
    {
        var report = tape.Check(realTime);
        Assert.True(report.Passed, report.ToString());
        Assert.True(report.Judged > 0);
        report.ThrowIfFailed();
    }

    private static CheckReport Fails(Tape tape, AnomalyKind kind, bool realTime = true)
    {
        var report = tape.Check(realTime);
        Assert.True(report.Count(kind) > 0, report.ToString());
        Assert.Throws<ConsistencyViolationException>(report.ThrowIfFailed);
        return report;
    }

    private static void FailsOnly(Tape tape, AnomalyKind kind, bool realTime = true)
    {
        var report = Fails(tape, kind, realTime);
        Assert.All(report.Anomalies, a => Assert.Equal(kind, a.Kind));
    }

    [Fact]
    public void A1_a_read_after_a_returned_append_must_show_it()
    {
        FailsOnly(new Tape().Append(1, 2, "a", 1).Get(3, 4, "a", None).Get(3, 9, "a", L(1)), AnomalyKind.RealTimeViolation);
        Passes(new Tape().Append(1, 3, "a", 1).Get(3, 4, "a", None).Get(3, 9, "a", L(1)));
        Passes(new Tape().Append(1, 2, "a", 1).Get(3, 4, "a", None).Get(3, 9, "a", L(1)), realTime: false);
    }

    [Fact]
    public void A2_no_new_value_then_an_old_one()
    {
        FailsOnly(new Tape().Append(1, null, "a", 1).Get(3, 4, "a", L(1)).Get(5, 6, "a", None), AnomalyKind.RealTimeViolation);
        Passes(new Tape().Append(1, null, "a", 1).Get(3, 6, "a", L(1)).Get(5, 6, "a", None));
    }

    [Fact]
    public void A3_the_same_over_two_shards()
    {
        FailsOnly(new Tape().Append(1, null, "a b", 1).Get(3, 4, "a", L(1)).Get(5, 6, "b", None), AnomalyKind.RealTimeViolation);
        Passes(new Tape().Append(1, null, "a b", 1).Get(3, 4, "a", L(1)).Get(5, 6, "b", L(1)));
    }

    [Fact]
    public void A4_a_cycle_of_three_through_real_time()
    {
        // a → b at key p, b → c at key q, and c returned before a began.
        var bad = new Tape().Append(1, 20, "p q", 2).Append(2, 5, "q", 3).Append(6, 9, "p", 1).Get(30, 31, "p", L(1, 2)).Get(30, 31, "q", L(2, 3));
        var report = Fails(bad, AnomalyKind.RealTimeViolation);
        Assert.Equal(["1", "2", "3"], report.Anomalies[0].Operations.Select(o => o.Id).Order());
        Assert.Equal(3, report.Anomalies[0].Operations.Count);
        Passes(new Tape().Append(1, 20, "p q", 2).Append(2, 7, "q", 3).Append(6, 9, "p", 1).Get(30, 31, "p", L(1, 2)).Get(30, 31, "q", L(2, 3)));
    }

    [Fact]
    public void A5_a_cycle_through_a_read()
    {
        // The read sees a (p) and is overwritten by c (q), but c returned before a began.
        FailsOnly(new Tape().Get(1, 20, "p q", L(1), None).Append(2, 5, "q", 3).Append(6, 9, "p", 1), AnomalyKind.RealTimeViolation);
        Passes(new Tape().Get(1, 20, "p q", L(1), L(3)).Append(2, 5, "q", 3).Append(6, 9, "p", 1));
    }

    [Fact]
    public void A15_two_reads_that_see_two_writes_in_opposite_order()
    {
        var report = Fails(new Tape().Append(1, 9, "x", 1).Append(1, 9, "y", 2).Get(1, 9, "x y", L(1), None).Get(1, 9, "x y", None, L(2)), AnomalyKind.NotSerializable, realTime: false);
        Assert.Equal(4, report.Anomalies[0].Operations.Count);
        Assert.Contains("rw x", report.Anomalies[0].Message, StringComparison.Ordinal);
        Passes(new Tape().Append(1, 9, "x", 1).Append(1, 9, "y", 2).Get(1, 9, "x y", L(1), None).Get(1, 9, "x y", L(1), L(2)));
    }

    [Fact]
    public void Half_of_a_write_must_not_be_seen()
    {
        Fails(new Tape().Append(1, 9, "x y", 1).Get(1, 9, "x y", L(1), None), AnomalyKind.NotSerializable, realTime: false);
        Passes(new Tape().Append(1, 9, "x y", 1).Get(1, 9, "x y", L(1), L(1)));
        Fails(new Tape().Put(1, 9, "x y", 1).Get(1, 9, "x y", 1, None), AnomalyKind.NotSerializable, realTime: false);
        Passes(new Tape().Put(1, 9, "x y", 1).Get(1, 9, "x y", 1, 1));
    }

    [Fact]
    public void Writes_in_opposite_order_on_two_keys()
    {
        var report = Fails(new Tape().Append(1, 9, "x y", 1).Append(1, 9, "x y", 2).Get(20, 21, "x", L(1, 2)).Get(20, 21, "y", L(2, 1)), AnomalyKind.NotSerializable);
        Assert.Contains("G0", report.Anomalies[0].Message, StringComparison.Ordinal);
        Passes(new Tape().Append(1, 9, "x y", 1).Append(1, 9, "x y", 2).Get(20, 21, "x", L(1, 2)).Get(20, 21, "y", L(1, 2)));
    }

    [Fact]
    public void A_batch_may_read_the_list_that_it_appends_to()
    {
        Passes(new Tape().Append(1, 9, "k", 1).PartGet(1, 9, "k", None));
        Passes(new Tape().Append(1, 9, "k", 1).PartGet(1, 9, "k", None).Append(1, 9, "k", 2));
        Passes(new Tape().Append(1, 9, "k", 1).PartGet(1, 9, "k", None).Get(10, 11, "k", L(1)));
        // Each would have to come before the other.
        Fails(new Tape().Append(1, 9, "k", 1).PartGet(1, 9, "k", None).Append(1, 9, "k", 2).PartGet(1, 9, "k", None), AnomalyKind.NotSerializable, realTime: false);
        Fails(new Tape().Append(1, 2, "k", 1).Append(3, 9, "k", 2).PartGet(3, 9, "k", None), AnomalyKind.LostWrite);
    }

    [Fact]
    public void Exactly_once()
    {
        FailsOnly(new Tape().Append(1, 2, "a", 1).Get(3, 4, "a", L(1, 1)), AnomalyKind.DuplicateElement);
        Passes(new Tape().Append(1, 2, "a", 1).Append(1, 2, "a", 2).Get(3, 4, "a", L(1, 2)));
    }

    [Fact]
    public void An_acknowledged_write_is_in_the_final_state()
    {
        Fails(new Tape().Append(1, 2, "a", 1).Append(3, 4, "a", 2).Final("m", ("a", L(1))), AnomalyKind.LostWrite, realTime: false);
        Fails(new Tape().Append(1, 2, "a", 1).Final("m"), AnomalyKind.LostWrite, realTime: false);
        Fails(new Tape().Put(1, 2, "a", 1).Final("m"), AnomalyKind.LostWrite, realTime: false);
        Fails(new Tape().Put(1, 2, "a", 1, 1).Put(3, 4, "a", 2, 2).Final("m", ("a", 1)), AnomalyKind.LostWrite, realTime: false);
        Passes(new Tape().Append(1, 2, "a", 1).Append(3, null, "a", 2).Final("m", ("a", L(1))));
        Passes(new Tape().Append(1, 2, "a", 1).Append(3, null, "a", 2).Final("m", ("a", L(1, 2))));
        Passes(new Tape().Put(1, 2, "a", 1, 1).Put(3, 4, "a", 2, 2).Final("m", ("a", 2)));
    }

    [Fact]
    public void An_acknowledged_write_is_in_later_reads()
    {
        Fails(new Tape().Append(1, 2, "a", 1).Get(3, 4, "a", None), AnomalyKind.LostWrite);
        Passes(new Tape().Append(1, 2, "a", 1).Get(3, 4, "a", None), realTime: false);
        Passes(new Tape().Append(1, 2, "a", 1).Get(2, 4, "a", None));
    }

    [Fact]
    public void A_value_that_was_read_does_not_vanish()
    {
        Fails(new Tape().Append(1, null, "a", 1).Get(3, 4, "a", L(1)).Final("m"), AnomalyKind.LostWrite, realTime: false);
        Fails(new Tape().Put(1, null, "a", 1).Get(3, 4, "a", 1).Final("m"), AnomalyKind.NotSerializable, realTime: false);
        Passes(new Tape().Append(1, null, "a", 1).Get(3, 4, "a", L(1)).Final("m", ("a", L(1))));
    }

    [Fact]
    public void A_multi_key_write_is_in_all_its_keys_or_in_none()
    {
        Fails(new Tape().Append(1, null, "a b", 1).Final("m", ("a", L(1))), AnomalyKind.PartialWrite);
        Fails(new Tape().Append(1, null, "a b", 1).Append(1, 2, "b", 2).Final("m", ("a", L(1)), ("b", L(2))), AnomalyKind.PartialWrite);
        Fails(new Tape().Put(1, null, "a b", 1).Final("m", ("a", 1)), AnomalyKind.NotSerializable);
        Passes(new Tape().Append(1, null, "a b", 1).Final("m", ("a", L(1)), ("b", L(1))));
        Passes(new Tape().Append(1, null, "a b", 1).Append(3, 4, "c", 5).Final("m", ("c", L(5))));
        Passes(new Tape().Put(1, null, "a b", 1).Put(1, 2, "b", 2).Final("m", ("a", 1), ("b", 2)));
    }

    [Fact]
    public void The_value_of_a_failed_write_is_never_seen()
    {
        FailsOnly(new Tape().FailedPut(1, 2, HistoryFunctions.Append, "a", 1).Get(3, 4, "a", L(1)), AnomalyKind.AbortedRead);
        FailsOnly(new Tape().FailedPut(1, 2, HistoryFunctions.Put, "a", 1).Get(3, 4, "a", 1), AnomalyKind.AbortedRead);
        Passes(new Tape().FailedPut(1, 2, HistoryFunctions.Append, "a", 1).Get(3, 4, "a", None));
    }

    [Fact]
    public void A_value_that_nobody_wrote_is_never_seen()
    {
        FailsOnly(new Tape().Append(1, 2, "a", 1).Get(3, 4, "a", L(1, 9)), AnomalyKind.UnwrittenValue);
        FailsOnly(new Tape().Put(1, 2, "a", 1).Get(1, 4, "a", 9), AnomalyKind.UnwrittenValue);
        FailsOnly(new Tape().Append(1, 2, "a", 1).Get(1, 4, "a", 1), AnomalyKind.UnwrittenValue);
        Passes(new Tape().Put(1, 2, "a", 1).Get(1, 4, "a", 1));
    }

    [Fact]
    public void Lists_are_prefixes_of_one_another()
    {
        FailsOnly(new Tape().Append(1, 9, "a", 1).Append(1, 9, "a", 2).Get(3, 8, "a", L(2)).Get(20, 21, "a", L(1, 2)), AnomalyKind.IncompatibleOrder);
        Passes(new Tape().Append(1, 9, "a", 1).Append(1, 9, "a", 2).Get(3, 8, "a", L(1)).Get(20, 21, "a", L(1, 2)));
    }

    [Fact]
    public void Versions_rise_with_the_order_of_writes()
    {
        Fails(new Tape().Append(1, 9, "a", 1, 2).Append(1, 9, "a", 2, 1).Get(20, 21, "a", L(1, 2)), AnomalyKind.VersionOrder);
        Fails(new Tape().Append(1, 9, "a", 1, 1).Append(1, 9, "a", 2, 1).Get(20, 21, "a", L(1, 2)), AnomalyKind.VersionOrder);
        Fails(new Tape().Append(1, 9, "a", 1, 1).GetVersions(20, 21, "a", [L(1)], [2]), AnomalyKind.VersionOrder);
        Fails(new Tape().Put(1, 9, "a", 1, 4).Put(1, 9, "a", 2, 4), AnomalyKind.VersionOrder);
        Fails(new Tape().Put(1, 9, "a", 1, 4).GetVersions(20, 21, "a", [1], [5]), AnomalyKind.VersionOrder);
        Passes(new Tape().Append(1, 9, "a", 1, 1).Append(1, 9, "a", 2, 3).GetVersions(20, 21, "a", [L(1, 2)], [3]));
        Passes(new Tape().Put(1, 9, "a", 1, 4).Put(1, 9, "a", 2, 5).GetVersions(20, 21, "a", [2], [5]));
    }

    [Fact]
    public void Replicas_are_equal_at_the_end()
    {
        FailsOnly(new Tape().Put(1, 9, "a", 1).Put(1, 9, "a", 2).Final("m", ("a", 1)).Final("n", ("a", 2)), AnomalyKind.Divergence);
        FailsOnly(new Tape().Put(1, 9, "a b", 1).Final("m", ("a", 1), ("b", 1)).Final("n", ("a", 1)), AnomalyKind.Divergence);
        Passes(new Tape().Put(1, 9, "a b", 1).Final("m", ("a", 1)).Final("n", ("b", 1)).Final("o", ("a", 1)));
    }

    [Fact]
    public void A_workload_that_writes_a_value_twice_is_told()
    {
        Fails(new Tape().Put(1, 2, "a", 1).Put(3, 4, "a", 1), AnomalyKind.AmbiguousWriter);
        Passes(new Tape().Put(1, 2, "a", 1).Put(3, 4, "b", 1));
    }

    [Fact]
    public void Overwritten_keys_with_versions()
    {
        Fails(new Tape().Put(1, 2, "a", 1, 1).Put(3, 4, "a", 2, 2).Get(5, 6, "a", 1), AnomalyKind.RealTimeViolation);
        Passes(new Tape().Put(1, 2, "a", 1, 1).Put(3, 4, "a", 2, 2).Get(3, 6, "a", 1));
        Fails(new Tape().Put(1, 2, "a", 1, 2).Put(3, 4, "a", 2, 1), AnomalyKind.RealTimeViolation);
        Fails(new Tape().Put(1, 9, "a b", 1, 1, 2).Put(1, 9, "a b", 2, 2, 1), AnomalyKind.NotSerializable);
        Passes(new Tape().Put(1, 9, "a b", 1, 1, 1).Put(1, 9, "a b", 2, 2, 2));
    }

    [Fact]
    public void Overwritten_keys_without_versions()
    {
        // Stale: 2 was written after 1 returned, and returned before the read began.
        Fails(new Tape().Put(1, 2, "a", 1).Put(3, 4, "a", 2).Get(5, 6, "a", 1), AnomalyKind.RealTimeViolation);
        Passes(new Tape().Put(1, 2, "a", 1).Put(3, 4, "a", 2).Get(3, 6, "a", 1));
        // The writes are concurrent, but two successive reads saw both orders.
        Fails(new Tape().Put(1, 9, "a", 1).Put(1, 9, "a", 2).Get(10, 11, "a", 1).Get(12, 13, "a", 2), AnomalyKind.RealTimeViolation);
        Passes(new Tape().Put(1, 9, "a", 1).Put(1, 9, "a", 2).Get(2, 3, "a", 1).Get(12, 13, "a", 2));
        // The final values decide the order.
        Fails(new Tape().Put(1, 9, "a b", 1).Put(1, 9, "a b", 2).Final("m", ("a", 1), ("b", 2)), AnomalyKind.NotSerializable);
        Passes(new Tape().Put(1, 9, "a b", 1).Put(1, 9, "a b", 2).Final("m", ("a", 2), ("b", 2)));
        // Absent after the value was there.
        Fails(new Tape().Put(1, null, "a", 1).Get(2, 3, "a", 1).Get(4, 5, "a", None), AnomalyKind.RealTimeViolation);
        Fails(new Tape().Put(1, 2, "a", 1).Get(4, 5, "a", None), AnomalyKind.RealTimeViolation);
    }

    [Fact]
    public void Removals()
    {
        Passes(new Tape().Put(1, 2, "a", 1, 1).Delete(3, 4, "a", 2).GetVersions(5, 6, "a", [None], [2]));
        Passes(new Tape().Put(1, 2, "a", 1).Delete(3, 4, "a").Get(5, 6, "a", None).Final("m"));
        Fails(new Tape().Put(1, 2, "a", 1, 1).Delete(3, 4, "a", 2).Get(5, 6, "a", 1), AnomalyKind.RealTimeViolation);
        Fails(new Tape().Put(1, 2, "a", 1, 1).Delete(3, 4, "a", 2).Put(5, 6, "a", 3, 3).GetVersions(7, 8, "a", [None], [2]), AnomalyKind.RealTimeViolation);
    }

    [Fact]
    public void What_was_put_after_a_removal_is_not_absent()
    {
        Fails(new Tape().Put(1, 2, "a", 1, 1).Delete(3, 4, "a", 2).Put(5, 6, "a", 2, 3).Get(7, 8, "a", None), AnomalyKind.RealTimeViolation);
        Fails(new Tape().Put(1, 2, "a", 1).Delete(3, 4, "a").Put(5, 6, "a", 2).Get(7, 8, "a", None), AnomalyKind.RealTimeViolation);
        Fails(new Tape().Put(1, 2, "a", 1).Delete(3, 4, "a").Put(5, 6, "a", 2).Final("m"), AnomalyKind.RealTimeViolation);
        Fails(new Tape().Put(1, 2, "a", 1, 1).Delete(3, 4, "a", 2).Put(5, 6, "a", 2, 3).Final("m"), AnomalyKind.LostWrite);
        // The put was seen, although its caller never got an answer.
        Fails(new Tape().Delete(1, 2, "a", 1).Put(3, null, "a", 2).Get(4, 5, "a", 2).Get(7, 8, "a", None), AnomalyKind.RealTimeViolation);
        Passes(new Tape().Put(1, 2, "a", 1, 1).Delete(3, 4, "a", 2).Put(5, 9, "a", 2, 3).Get(7, 8, "a", None));
        Passes(new Tape().Put(1, 2, "a", 1, 1).Delete(3, null, "a").Put(5, 6, "a", 2, 3).Get(7, 8, "a", None));
        Passes(new Tape().Put(1, 2, "a", 1, 1).Delete(3, 4, "a", 2).Put(5, 6, "a", 2, 3).Delete(7, 8, "a", 4).Get(9, 10, "a", None).Final("m"));
    }

    [Fact]
    public void Absence_is_not_read_before_its_removal()
    {
        Fails(new Tape().Put(1, 2, "a", 1, 1).Get(3, 4, "a", None).Delete(5, 6, "a", 2), AnomalyKind.RealTimeViolation);
        Passes(new Tape().Put(1, 2, "a", 1, 1).Get(3, 6, "a", None).Delete(5, 6, "a", 2));
        // A removal of unknown outcome whose effect was seen took place, and its effect stays.
        Fails(new Tape().Put(1, 2, "a", 1, 1).Delete(3, null, "a").Get(4, 5, "a", None).GetVersions(6, 7, "a", [1], [1]), AnomalyKind.RealTimeViolation);
    }

    [Fact]
    public void Which_of_several_removals_a_read_saw_may_stay_open_but_not_everything()
    {
        // The read is explained both between the removals and after them.
        var tape = new Tape().Put(1, 2, "a", 1, 1).Delete(3, 30, "a", 2).Put(3, 30, "a", 2, 3).Delete(3, 30, "a", 4).Get(5, 20, "a", None);
        Passes(tape);
        Fails(tape.Put(31, 40, "a", 3, 5).Get(41, 42, "a", None), AnomalyKind.RealTimeViolation);
        // Absent before the first put and after the removal, but never with the version of a value.
        Fails(new Tape().Put(1, 9, "a", 1, 5).Delete(1, 9, "a", 6).GetVersions(1, 9, "a", [None], [5]), AnomalyKind.VersionOrder);
    }

    [Fact]
    public void A_removal_over_two_keys_is_in_both_or_in_none()
    {
        Fails(new Tape().Put(1, 2, "a b", 1, 1, 1).Delete(3, 9, "a b", 2, 2).Get(4, 8, "a b", None, 1), AnomalyKind.NotSerializable);
        Passes(new Tape().Put(1, 2, "a b", 1, 1, 1).Delete(3, 9, "a b", 2, 2).Get(4, 8, "a b", None, None));
    }

    [Fact]
    public void A_replica_that_is_empty_or_holds_another_version_is_no_replica()
    {
        Fails(new Tape().Put(1, 2, "a", 1, 7).Replica("m1", 0, ("a", 1, 7)).Replica("m2", 0), AnomalyKind.Divergence);
        Fails(new Tape().Put(1, 2, "a", 1, 7).Replica("m1", 0).Replica("m2", 0, ("a", 1, 7)), AnomalyKind.Divergence);
        Fails(new Tape().Put(1, 2, "a", 1, 7).Replica("m1", 0, ("a", 1, 7)).Replica("m2", 0, ("a", 1, 8)), AnomalyKind.Divergence);
        Fails(new Tape().Put(1, 2, "a", 1, 7).Replica("m1", 0, ("a", 1, 8)), AnomalyKind.VersionOrder);
        Passes(new Tape().Put(1, 2, "a", 1, 7).Replica("m1", 0, ("a", 1, 7)).Replica("m2", 0, ("a", 1, 7)).Replica("m3", 1).Replica("m4", 1));
    }

    [Fact]
    public void Transactions_do_not_lose_updates_and_show_no_write_skew()
    {
        Fails(new Tape().Transaction(1, 9, [("a", None)], [("a", 1)]).Transaction(1, 9, [("a", None)], [("a", 2)]), AnomalyKind.NotSerializable);
        Passes(new Tape().Transaction(1, 9, [("a", None)], [("a", 1)]).Transaction(1, 9, [("a", 1)], [("a", 2)]));
        Fails(new Tape().Transaction(1, 9, [("a", None)], [("b", 1)]).Transaction(1, 9, [("b", None)], [("a", 2)]), AnomalyKind.NotSerializable);
        Passes(new Tape().Transaction(1, 9, [("a", None)], [("b", 1)]).Transaction(1, 9, [("b", 1)], [("a", 2)]));
    }

    [Fact]
    public void Weak_operations_are_left_out_and_ordered_ones_are_free_of_real_time()
    {
        Passes(new Tape().Append(1, 2, "a", 1).Append(1, 2, "b", 5).Get(3, 9, "b", L(5)), realTime: true);
        Passes(new Tape { Level = HistoryLevel.Ordered }.Append(1, 2, "a", 1).Get(3, 4, "a", None).Get(3, 9, "a", L(1)));
        Fails(new Tape { Level = HistoryLevel.Ordered }.Append(1, 2, "a", 1).Final("m"), AnomalyKind.LostWrite);
        var mixed = new Tape { Level = HistoryLevel.Weak }.Get(3, 4, "a", None);
        mixed.Level = null;
        Passes(mixed.Append(1, 2, "a", 1).Get(5, 6, "a", L(1)));
    }

    [Fact]
    public void An_operation_of_unknown_outcome_may_apply_late_but_not_undo()
    {
        Passes(new Tape().Append(1, null, "a", 1).Get(5, 6, "a", None).Get(7, 8, "a", L(1)));
        Fails(new Tape().Append(10, null, "a", 1).Get(5, 6, "a", L(1)), AnomalyKind.RealTimeViolation);
    }

    [Fact]
    public void Keys_that_mix_lists_and_overwriting_fail_a_run_since_they_cannot_be_judged()
    {
        var report = Fails(new Tape().Append(1, 2, "a", 1).Put(3, 4, "a", 2).Append(1, 2, "b", 1), AnomalyKind.MixedKey);
        Assert.Equal(["a"], report.Anomalies.Select(found => found.Key));
    }

    /// <summary>Each of these histories is possible in a store that applies the two halves of a batch one after the other.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void R_a_batch_that_appends_and_overwrites_is_judged_as_one(bool linked)
    {
        Tape Batch(long? to = 9) => new Tape().Append(1, to, "a", 1).Part(HistoryFunctions.Put, 1, to, "x", 5, linked);
        var between = Batch().Get(3, 4, "a x", L(1), None);
        var after = Batch().Get(3, 4, "a x", None, 5);
        var split = Batch().Get(3, 4, "a", L(1)).Get(5, 6, "x", None);
        var half = Batch(to: null).Get(20, 21, "a", L(1)).Final("m", ("a", L(1)));
        if (linked)
        {
            Fails(between, AnomalyKind.NotSerializable, realTime: false);
            Fails(after, AnomalyKind.NotSerializable, realTime: false);
            Fails(split, AnomalyKind.RealTimeViolation);
            Fails(half, AnomalyKind.NotSerializable);
        }
        else
        {
            foreach (var tape in new[] { between, after, split, half }) Passes(tape);
        }
        Passes(Batch().Get(3, 4, "a x", L(1), 5));
        Passes(Batch().Get(3, 4, "a x", None, None).Get(5, 6, "a x", L(1), 5).Final("m", ("a", L(1)), ("x", 5)));
        Passes(Batch(to: null).Get(3, 4, "a x", None, None).Final("m"));
    }

    [Fact]
    public void R_a_part_belongs_to_an_operation_of_the_same_level_and_outcome()
    {
        Refused(new Tape().Append(1, 2, "a", 1).Part(HistoryFunctions.Put, 1, 2, "x", 5).Part(HistoryFunctions.Put, 1, 2, "y", 5), "part itself");
        Refused(new Tape().Part(HistoryFunctions.Put, 1, 2, "x", 5), "no operation");
        Refused(new Tape().Append(1, 2, "a", 1).Part(HistoryFunctions.Put, 1, 2, "a", 5), "one key");
        Refused(new Tape().FailedPut(1, 2, HistoryFunctions.Put, "a", 1).Part(HistoryFunctions.Append, 1, 2, "x", 5), "one failed");
        Refused(new Tape { Level = HistoryLevel.Ordered }.Append(1, 2, "a", 1).At(null).Part(HistoryFunctions.Put, 1, 2, "x", 5), "two levels");

        static void Refused(Tape tape, string why) => Assert.Contains(why, Assert.Throws<HistoryFormatException>(() => tape.Check()).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-1)]
    public void R_findings_that_are_only_counted_are_findings(int mostPerKind)
    {
        var report = new Tape().Append(1, 2, "a", 1).Get(3, 4, "a", None).Get(3, 9, "a", L(1)).Check(mostPerKind: mostPerKind);
        Assert.Empty(report.Anomalies);
        Assert.False(report.Passed);
        Assert.Contains("1 more of RealTimeViolation", Assert.Throws<ConsistencyViolationException>(report.ThrowIfFailed).Message, StringComparison.Ordinal);
        Assert.True(new Tape().Append(1, 2, "a", 1).Get(3, 4, "a", L(1)).Check(mostPerKind: mostPerKind).Passed);
    }

    [Fact]
    public void The_report_tells_the_cycle_in_words()
    {
        string text = Fails(new Tape().Append(1, 2, "a", 1).Get(3, 4, "a", None).Get(3, 9, "a", L(1)), AnomalyKind.RealTimeViolation).ToString();
        Assert.Contains("2 operations in a cycle (G-single, one stale read, against real time)", text, StringComparison.Ordinal);
        Assert.Contains("op 1: append wrote a=1 (Ok, client c1, t 1–2)", text, StringComparison.Ordinal);
        Assert.Contains("real time: completed at 2, op 2 was invoked at 3", text, StringComparison.Ordinal);
        Assert.Contains("rw a: it read what was before 1 of op 1", text, StringComparison.Ordinal);
    }
}
