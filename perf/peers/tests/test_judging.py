import math
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.judging import figure, is_noisy, is_off, reached, wrong  # noqa: E402
from harness.rows import Metric  # noqa: E402

GONE = Metric("zero_ms_after_kill", "ms", False)
SLOWEST = Metric("slowest_op_ms", "ms", False)


class Judging(unittest.TestCase):
    def test_wrong_results_are_named(self):
        self.assertEqual([], wrong({"delivered_all": True, "order_errors": 0, "same_order_everywhere": True, "keys_missing_after": 0}))
        for field, value in (("delivered_all", False), ("order_errors", 1), ("same_order_everywhere", False), ("keys_missing_after", 2)):
            self.assertEqual(1, len(wrong({field: value})), field)

    def test_what_cannot_be_compared_is_not_wrong_for_itself(self):
        self.assertEqual([], wrong({"same_order_everywhere": "not comparable"}))

    def test_the_rate_reached_counts_all_nodes_and_all_deliveries(self):
        self.assertEqual(0.5, reached(1000, {"bench": "kv", "nodes": 4, "ops_per_s": 2000}))
        self.assertEqual(16, reached(1000, {"bench": "kv", "nodes": 4, "ops_per_s": 64000}))
        self.assertEqual(1, reached(1000, {"bench": "multicast", "members": 3, "delivered_per_s_member_median": 1000}))
        self.assertEqual(1, reached(2000, {"bench": "failover", "nodes": 5, "ops_per_s_before": 32000}))

    def test_no_rate_was_asked_for(self):
        self.assertIsNone(reached(0, {"bench": "kv", "nodes": 4, "ops_per_s": 2000}))

    def test_more_than_asked_for_is_off_too(self):
        self.assertEqual([False, False, True, True], [is_off(share) for share in (None, 0.99, 0.97, 16)])

    def test_a_tenth_for_others_is_noise(self):
        self.assertEqual([False, True, True, False], [is_noisy({"cpu_others_share": share}) for share in (0.1, 0.11, "none", None)])

    def test_a_gap_up_to_the_end_is_no_number(self):
        self.assertEqual(math.inf, figure(GONE, {"zero_ms_after_kill": 32_400}, GONE.field, 33))
        self.assertEqual(math.inf, figure(GONE, {"zero_ms_after_kill": 5_000, "ops_per_s_last_3_s": 0}, GONE.field, 33))
        self.assertEqual(5_000, figure(GONE, {"zero_ms_after_kill": 5_000, "ops_per_s_last_3_s": 9}, GONE.field, 33))

    def test_the_slowest_success_tells_nothing_while_a_survivor_waits(self):
        self.assertEqual(math.inf, figure(SLOWEST, {"slowest_op_ms": 40, "zero_ms_worst_survivor": 32_990, "ops_per_s_last_3_s": 9}, SLOWEST.field, 33))
        self.assertEqual(2_400, figure(SLOWEST, {"slowest_op_ms": 2_400, "zero_ms_worst_survivor": 2_390, "ops_per_s_last_3_s": 9}, SLOWEST.field, 33))

    def test_no_new_view_is_no_number(self):
        self.assertEqual(math.inf, figure(Metric("new_view_ms", "ms", False), {"new_view_ms": "none"}, "new_view_ms", 33))


if __name__ == "__main__":
    unittest.main()
