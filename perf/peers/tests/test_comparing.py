import math
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.comparing import Comparison, half_rates, losers_first, order, ratio  # noqa: E402
from harness.rows import Metric, Row  # noqa: E402

RATE = Metric("ops_per_s", "ops/s", True, 2.0)
BACK = Metric("back_to_90_percent_ms", "ms", False)
ERRORS = Metric("errors", "errors", False)


def rates(*values):
    return [None if v is None else {"ops_per_s": v} for v in values]


class Comparing(unittest.TestCase):
    def test_a_ratio_is_turned_so_that_above_one_is_better(self):
        self.assertEqual((2, 2), (ratio(RATE, 200, 100), ratio(BACK, 100, 200)))
        self.assertEqual((0, 1, math.inf), (ratio(BACK, math.inf, 5), ratio(BACK, math.inf, math.inf), ratio(BACK, 5, math.inf)))

    def test_a_failed_run_of_ours_is_the_worst_and_is_counted(self):
        c = Comparison(RATE, {"a": rates(100, 100, 100), "ida": rates(300, None, None)})
        self.assertEqual(([3, 0, 0], 0, 1, 3), (c.ratios, c.median, c.own.ran, c.own.rounds))

    def test_a_failed_run_of_ours_is_not_made_good_by_one_that_no_other_ended(self):
        endless, ended = {"back_to_90_percent_ms": -1}, {"back_to_90_percent_ms": 900}
        for ours, ratios in (([None, ended], [0, math.inf]), ([ended, None], [math.inf, 0]), ([ended, None, None, ended], [math.inf, 0, 0, math.inf])):
            c = Comparison(BACK, {"a": [ended if own is None else endless for own in ours], "ida": ours})
            self.assertEqual((ratios, 0, True), (c.ratios, c.median, c.loses))

    def test_of_an_even_number_of_rounds_the_lower_of_the_middle_two_counts(self):
        for ours, median in (((300, 100), 1), ((100, 400, 200, 300), 2), ((100, 400, 200), 2)):
            self.assertEqual(median, Comparison(RATE, {"a": rates(*[100] * len(ours)), "ida": rates(*ours)}).median)

    def test_a_figure_that_ours_lacks_loses(self):
        c = Comparison(BACK, {"a": [{"back_to_90_percent_ms": 900}], "ida": [{}]})
        self.assertEqual(([0], True, None), (c.ratios, c.loses, c.own.median))

    def test_a_round_without_any_other_claims_nothing(self):
        self.assertEqual([2], Comparison(RATE, {"a": rates(100, None), "ida": rates(200, 900)}).ratios)

    def test_the_best_of_each_round_counts_and_what_stands_aside_does_not(self):
        c = Comparison(RATE, {"a": rates(100, 300), "b": rates(200, 150), "mesh": rates(9e9, 9e9), "ida": rates(400, 600)}, aside={"mesh", None})
        self.assertEqual(([2, 2], "a"), (c.ratios, c.best))

    def test_not_recovered_ranks_worst(self):
        c = Comparison(BACK, {"a": [{"back_to_90_percent_ms": -1}], "b": [{"back_to_90_percent_ms": 900}], "ida": [{"back_to_90_percent_ms": -1}]})
        self.assertEqual(("b", 0, math.inf), (c.best, c.median, c.own.median))

    def test_those_that_lose_stand_first_the_worst_at_the_top(self):
        made = [(name, Comparison(RATE, {"a": rates(100), "ida": rates(value)})) for name, value in (("x", 200), ("y", 90), ("z", 50))]
        lose, rest = losers_first(made)
        self.assertEqual((["z", "y"], ["x"]), ([n for n, _ in lose], [n for n, _ in rest]))

    def test_errors_tell_where_there_were_any(self):
        made = [Comparison(ERRORS, {"a": [{"errors": theirs}], "ida": [{"errors": ours}]}) for theirs, ours in ((0, 0), (0, 3), (3, 0))]
        self.assertEqual([(False, False), (True, True), (True, False)], [(c.tells, c.loses) for c in made])

    def test_every_system_is_first_and_last_once_in_twice_as_many_rounds_as_systems(self):
        orders = [order(["a", "b", "c"], n) for n in range(6)]
        self.assertEqual(["a", "b", "c"], orders[0])
        self.assertEqual(["c", "b", "a"], orders[1])
        for at in range(3):
            self.assertEqual(["a", "a", "b", "b", "c", "c"], sorted(o[at] for o in orders))

    def test_half_of_its_own_is_per_node_alike_for_each_thread_and_not_of_one_that_keeps_no_rate(self):
        row = Row("r", "kv --nodes 4 --threads 2", [RATE], [])
        self.assertEqual({"a": 100, "ida": 1124}, half_rates(row, {"a": rates(800), "b": rates(None), "redis": rates(90), "ida": rates(8999)}))


if __name__ == "__main__":
    unittest.main()
