import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.comparing import Comparison  # noqa: E402
from harness.printing import line, table  # noqa: E402
from harness.rows import Metric, Row  # noqa: E402

RATE = Metric("ops_per_s", "ops/s", True, 2.0)
GONE = Metric("zero_ms_after_kill", "ms nothing", False)
ROW = Row("r", "kv", [RATE], [])


def rates(*values):
    return [None if v is None else {"ops_per_s": v} for v in values]


class Printing(unittest.TestCase):
    def test_a_line_shows_spread_runs_and_target(self):
        c = Comparison(RATE, {"a": rates(100, 120), "ida": rates(150, None)})
        self.assertEqual("| r | ops/s | ida | 75 (0..150) | 1 of 2 | a | 110 (100..120) | 2 of 2 | 1.50 0.00 | 0.00 | >= 2.00 MISSED |", line(ROW, c))

    def test_where_others_win_comes_before_the_rest_and_redis_has_its_caveat(self):
        text = table("kv", [(ROW, {"redis": rates(100), "ida": rates(50)})])
        self.assertLess(text.index("Where others win"), text.index("| r | ops/s"))
        self.assertLess(text.index("| r | ops/s"), text.index("The rest"))
        self.assertIn("WAIT", text)

    def test_no_end_is_no_number_and_a_failed_run_is_called_so(self):
        row = Row("stop", "failover --seconds 44", [GONE], [])
        endless, failed = {"a": [{"zero_ms_after_kill": 32_900}], "ida": [{"zero_ms_after_kill": 1_900}]}, {"a": [{"zero_ms_after_kill": 5}], "ida": [None]}
        self.assertIn("| not within 33 s |", line(row, Comparison(GONE, endless, within=row.within)))
        text = line(row, Comparison(GONE, failed, within=row.within))
        self.assertIn("| failed |", text)
        self.assertNotIn("not within", text)

    def test_no_target_is_met_by_half_of_the_rounds(self):
        aimed = Metric("zero_ms_after_kill", "ms nothing", False, 1.0)
        row = Row("stop", "failover --seconds 44", [aimed], [])
        c = Comparison(aimed, {"a": [{"zero_ms_after_kill": 900}, {"zero_ms_after_kill": 32_900}], "ida": [None, {"zero_ms_after_kill": 900}]}, within=row.within)
        self.assertTrue(line(row, c).endswith("| 0.00 inf | 0.00 | >= 1.00 MISSED |"), line(row, c))

    def test_noise_a_missed_rate_errors_and_clients_are_shown(self):
        run = {"ops_per_s": 5, "noisy": True, "began_not": 1, "rate_reached": 0.53, "rate": 9, "errors": 3, "rss_peak_mb": 10, "rss_clients_mb": 20, "warmup": 5, "warm": False}
        text = table("half", [(ROW, {"redis-unpipelined": [run, run], "ida": [run, run]})])
        for said in ("2 of 2, 2 noisy, 2 restarted, off rate 0.53 0.53", "at 9/s a node", "clients 20", "| 6 | 5, not flat |"):
            self.assertIn(said, text)


if __name__ == "__main__":
    unittest.main()
