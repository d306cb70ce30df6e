import os
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness import usage  # noqa: E402
from harness.commands import Failed  # noqa: E402
from harness.holding import Collected, hold  # noqa: E402


class Usage(unittest.TestCase):
    def test_only_what_is_below_the_command_counts(self):
        self.assertEqual({2, 3, 4}, usage.descendants(1, {1: 0, 2: 1, 3: 2, 4: 1, 5: 0}))

    def test_the_name_of_a_process_may_hold_anything(self):
        self.assertEqual(17, usage.parent("9 (a) b) S 17 1 1"))

    def test_user_and_system_time_count_as_spent(self):
        self.assertEqual(7, usage.ticks_of("9 (a b) S 17 1 1 0 -1 4194304 100 0 0 0 3 4 0 0 20"))
        self.assertTrue(usage.spent({os.getpid(): "python3", -1: "gone"}) > 0)

    def test_clients_are_apart_where_there_are_servers(self):
        me = os.getpid()
        system, clients = usage.resident({me: "java"})
        self.assertTrue(system > 0 and clients == 0)
        system, clients = usage.resident({me: "java", -1: usage.SERVER})
        self.assertTrue(system == 0 and clients > 0)


class Holding(unittest.TestCase):
    def test_nobody_is_asked_that_has_just_begun_or_is_busy(self):
        look, asked = Collected(), []
        used, clock = iter([0, 4, 4.1, 4.2]), iter([0, 2, 4, 6, 8])
        with (mock.patch("harness.holding.below", return_value={7: "java"}), mock.patch("harness.holding.spent", lambda _: next(used)), mock.patch("harness.holding.resident", return_value=(5, 0)),
              mock.patch("time.monotonic", lambda: next(clock)), mock.patch("subprocess.run", side_effect=lambda words, **_: asked.append(words) or mock.Mock(returncode=0))):
            for expected in (0, 0, 1):
                look(1)
                self.assertEqual(expected, len(asked))
        self.assertEqual([(4, 5)], look.looks)

    def test_the_last_look_in_the_window_counts(self):
        look = Collected()
        with mock.patch("time.monotonic", return_value=100):
            look.looks = [(50, 9), (85, 5), (95, 6)]
            self.assertEqual(6, look.last(20))
            look.looks = [(50, 9)]
            with self.assertRaises(Failed):
                look.last(20)

    def test_an_entry_costs_what_many_hold_more_than_few(self):
        def run(command, look):
            keys = int(command.get("--keyspace", 301_000))
            look.looks = [(0, 1_000_000 + 500 * keys)]
            return {"system": "a", "version": "1", "nodes": 4, "backups": 1, "value": 100, "keyspace": keys, "errors": 0}

        with mock.patch("harness.holding.run_json", run), mock.patch("time.monotonic", return_value=1):
            self.assertEqual(500, hold(lambda more: more)["bytes_per_entry"])


if __name__ == "__main__":
    unittest.main()
