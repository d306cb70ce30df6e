import contextlib
import io
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.main import SUITES, chosen, main, parse  # noqa: E402


class Main(unittest.TestCase):
    def refused(self, *arguments):
        """What is said of arguments that are wrong usage; nothing is built or run for them."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said), mock.patch("harness.main.run", side_effect=AssertionError), self.assertRaises(SystemExit) as ended:
            main(arguments)
        self.assertEqual(2, ended.exception.code)
        return said.getvalue()

    def test_rows_that_there_are_not_are_wrong_usage(self):
        self.assertIn("no row of kv has 'TYPO' in its name", self.refused("kv", "--rows", "TYPO"))
        self.assertIn("no row of all has 'TYPO' in its name", self.refused("all", "--rows", "TYPO"))

    def test_a_row_of_another_suite_is_none_of_this_one(self):
        self.assertIn("no row of kv", self.refused("kv", "--rows", "round trip"))

    def test_suites_without_such_a_row_are_left_out(self):
        rows = chosen(parse(["all", "--rows", "total order"]))
        self.assertEqual({"failover": 1, "stop": 1}, {suite: len(found) for suite, found in rows.items()})

    def test_without_a_text_every_row_is_asked_for(self):
        self.assertEqual(SUITES, list(chosen(parse(["all"]))))
        self.assertEqual(["p2p"], list(chosen(parse(["p2p", "--quick"]))))


if __name__ == "__main__":
    unittest.main()
