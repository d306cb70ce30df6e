import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.commands import Failed  # noqa: E402
from harness.rows import Metric, Row  # noqa: E402
from harness.warming import DEFAULT_S, WarmUps, is_flat, sufficient  # noqa: E402

ROW = Row("r", "kv --threads 2", [Metric("ops_per_s", "ops/s", True)], [])


class Warming(unittest.TestCase):
    def test_a_warm_up_is_sufficient_when_twice_as_much_changes_little(self):
        self.assertEqual((True, False, False), (is_flat(100, 104), is_flat(100, 106), is_flat(0, 0)))
        self.assertEqual((10, True), sufficient({5: 50, 10: 100, 20: 102}.get))
        self.assertEqual((40, False), sufficient({5: 1, 10: 2, 20: 4, 40: 8}.get))

    def test_one_odd_run_of_three_changes_nothing(self):
        runs = {5: iter([100, 7, 101]), 10: iter([102, 100, 990])}
        self.assertEqual((5, True), sufficient(lambda seconds: next(runs[seconds])))

    def test_a_run_that_fails_is_left_out_and_three_are_a_failure(self):
        runs = {5: iter([100, None, 101]), 10: iter([102, 100, 103]), 20: iter([None] * 3)}
        self.assertEqual((5, True), sufficient(lambda seconds: next(runs[seconds])))
        with self.assertRaises(Failed):
            sufficient(lambda seconds: None)

    def test_it_is_looked_for_once_and_kept(self):
        asked = []

        def run(seconds):
            asked.append(seconds)
            return {"ops_per_s": 100}

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "warmups"
            for _ in range(2):
                with contextlib.redirect_stdout(io.StringIO()):
                    self.assertEqual((5, True), tuple(WarmUps(None, file).of(ROW, "ida", run)))
        self.assertEqual([5, 5, 5, 10, 10, 10], asked)

    def test_what_was_looked_for_in_vain_fails_again_without_a_run_and_is_kept_in_no_file(self):
        asked = []

        def run(seconds):
            asked.append(seconds)
            raise Failed("lost")

        shared = Row("another", "kv --threads 2", ROW.metrics, [], key="r")
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            file = Path(folder) / "warmups"
            warmups = WarmUps(None, file)
            for row, said in ((ROW, "no run after 5 s of warm-up"), (ROW, "no run after 5 s of warm-up, as before"), (shared, "no run after 5 s of warm-up, as before")):
                with self.assertRaises(Failed) as raised:
                    warmups.of(row, "ida", run)
                self.assertEqual(said, str(raised.exception))
            self.assertFalse(file.exists())
            self.assertEqual([5, 5, 5], asked)
            self.assertEqual((5, True), warmups.of(ROW, "other", lambda seconds: {"ops_per_s": 100}))
            self.assertEqual((5, True), WarmUps(None, file).of(ROW, "ida", lambda seconds: {"ops_per_s": 100}))

    def test_what_is_given_holds_and_where_nothing_tells_the_default_does(self):
        blind = Row("r", "failover", ROW.metrics, [], judge=None)
        self.assertEqual(((7, True), (DEFAULT_S, True)), (WarmUps(7, None).of(ROW, "ida", None), WarmUps(None, None).of(blind, "ida", None)))


if __name__ == "__main__":
    unittest.main()
