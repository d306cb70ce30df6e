import math
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.comparing import Comparison, is_flat, losers_first, order, ratio, sufficient  # noqa: E402
from harness.main import half_of_slowest  # noqa: E402
from harness.printing import line, table  # noqa: E402
from harness.rows import Metric, Row  # noqa: E402
from harness.usage import descendants, parent  # noqa: E402

RATE = Metric("ops_per_s", "ops/s", True, 2.0)
BACK = Metric("back_to_90_percent_ms", "ms", False)


def rates(*values):
    return [None if v is None else {"ops_per_s": v} for v in values]


class Comparing(unittest.TestCase):
    def test_a_ratio_is_turned_so_that_above_one_is_better(self):
        self.assertEqual((2, 2), (ratio(RATE, 200, 100), ratio(BACK, 100, 200)))
        self.assertEqual((0, 1, math.inf), (ratio(BACK, math.inf, 5), ratio(BACK, math.inf, math.inf), ratio(BACK, 5, math.inf)))

    def test_a_failed_run_of_ours_is_the_worst_and_is_counted(self):
        c = Comparison(RATE, {"a": rates(100, 100, 100), "ida": rates(300, None, None)})
        self.assertEqual(([3, 0, 0], 0, 1, 3), (c.ratios, c.median, c.own.ran, c.own.rounds))

    def test_a_round_without_any_other_claims_nothing(self):
        self.assertEqual([2], Comparison(RATE, {"a": rates(100, None), "ida": rates(200, 900)}).ratios)

    def test_the_best_of_each_round_counts_and_a_limit_does_not(self):
        c = Comparison(RATE, {"a": rates(100, 300), "b": rates(200, 150), "mesh": rates(9e9, 9e9), "ida": rates(400, 600)}, limit="mesh")
        self.assertEqual(([2, 2], "a"), (c.ratios, c.best))

    def test_not_recovered_ranks_worst(self):
        c = Comparison(BACK, {"a": [{"back_to_90_percent_ms": -1}], "b": [{"back_to_90_percent_ms": 900}], "ida": [{"back_to_90_percent_ms": -1}]})
        self.assertEqual(("b", 0, math.inf), (c.best, c.median, c.own.median))

    def test_those_that_lose_stand_first_the_worst_at_the_top(self):
        made = [(name, Comparison(RATE, {"a": rates(100), "ida": rates(value)})) for name, value in (("x", 200), ("y", 90), ("z", 50))]
        lose, rest = losers_first(made)
        self.assertEqual((["z", "y"], ["x"]), ([n for n, _ in lose], [n for n, _ in rest]))

    def test_every_system_is_first_and_last_once_in_twice_as_many_rounds_as_systems(self):
        orders = [order(["a", "b", "c"], n) for n in range(6)]
        self.assertEqual(["a", "b", "c"], orders[0])
        self.assertEqual(["c", "b", "a"], orders[1])
        for at in range(3):
            self.assertEqual(["a", "a", "b", "b", "c", "c"], sorted(o[at] for o in orders))

    def test_a_warm_up_is_sufficient_when_twice_as_much_changes_little(self):
        self.assertEqual((True, False, False), (is_flat(100, 104), is_flat(100, 106), is_flat(0, 0)))
        self.assertEqual((10, True), sufficient({5: 50, 10: 100, 20: 102}.get))
        self.assertEqual((40, False), sufficient({5: 1, 10: 2, 20: 4, 40: 8}.get))

    def test_half_of_the_slowest_is_per_node(self):
        row = Row("r", "kv --nodes 4", [RATE], [])
        self.assertEqual(100, half_of_slowest(row, {"a": rates(800), "b": rates(None), "ida": rates(9000)}))


class Printing(unittest.TestCase):
    def test_a_line_shows_spread_runs_and_target(self):
        c = Comparison(RATE, {"a": rates(100, 120), "ida": rates(150, None)})
        self.assertEqual("| r | ops/s | ida | 75 (0..150) | 1 of 2 | a | 110 (100..120) | 2 of 2 | 1.50 0.00 | 0.75 | >= 2.00 MISSED |", line(Row("r", "kv", [RATE], []), c))

    def test_where_others_win_comes_before_the_rest_and_redis_has_its_caveat(self):
        text = table("kv", [(Row("r", "kv", [RATE], []), {"redis": rates(100), "ida": rates(50)})])
        self.assertLess(text.index("Where others win"), text.index("| r | ops/s"))
        self.assertLess(text.index("| r | ops/s"), text.index("The rest"))
        self.assertIn("WAIT", text)


class Usage(unittest.TestCase):
    def test_only_what_is_below_the_command_counts(self):
        self.assertEqual({2, 3, 4}, descendants(1, {1: 0, 2: 1, 3: 2, 4: 1, 5: 0}))

    def test_the_name_of_a_process_may_hold_anything(self):
        self.assertEqual(17, parent("9 (a) b) S 17 1 1"))


if __name__ == "__main__":
    unittest.main()
