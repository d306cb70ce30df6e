import contextlib
import io
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.commands import Failed, NeverBegan  # noqa: E402
from harness.rows import Metric, Row  # noqa: E402
from harness.running import Runner  # noqa: E402

ROW = Row("r", "kv --nodes 4", [Metric("ops_per_s", "ops/s", True)], ["ignite", "redis", "redis-unpipelined"])


class Running(unittest.TestCase):
    def setUp(self):
        self.runner = Runner(SimpleNamespace(peers="peers", probes="", warmup=1, warmups=None, repeats=2, rounds=2, seconds=1, out=None))
        self.said = io.StringIO()

    def run_all(self, results):
        """All rounds of ours alone, with these results of its runs, one after the other."""
        with contextlib.redirect_stdout(self.said), mock.patch("harness.running.run_json", side_effect=results):
            return self.runner.row("kv", Row("r", "kv --nodes 4", ROW.metrics, []))["ida"]

    def test_without_redis_the_rows_go_on_and_it_is_said_once(self):
        with contextlib.redirect_stdout(self.said), mock.patch("os.access", return_value=True), mock.patch("shutil.which", lambda name: not name.startswith("redis")):
            self.assertEqual([["ignite"]] * 2, [self.runner.others(ROW) for _ in range(2)])
        self.assertEqual((0, 1), (self.runner.failures, self.said.getvalue().count("# without redis: there is no redis-server")))

    def test_noise_is_repeated_so_many_times_and_the_best_is_marked(self):
        quiet, loud, louder = ({"ops_per_s": 1, "cpu_others_share": share} for share in (0.02, 0.3, 0.5))
        first, second = self.run_all([loud, quiet, louder, loud, louder])
        self.assertEqual((0.02, None), (first["cpu_others_share"], first.get("noisy")))
        self.assertEqual((0.3, True), (second["cpu_others_share"], second["noisy"]))

    def test_what_never_began_is_tried_again_and_said_and_what_failed_later_is_not(self):
        good = {"ops_per_s": 1}
        first, second = self.run_all([NeverBegan("view"), good, Failed("lost")])
        self.assertEqual((1, None, 1), (first["began_not"], second, self.runner.failures))
        self.assertEqual([None, None], self.run_all([NeverBegan("view")] * 6))

    def test_what_a_run_got_wrong_makes_it_fail(self):
        first, second = self.run_all([{"ops_per_s": 1, "order_errors": 1}, {"ops_per_s": 1}])
        self.assertEqual((None, 1, 1), (first, second["ops_per_s"], self.runner.failures))


if __name__ == "__main__":
    unittest.main()
