import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.commands import Failed, NeverBegan, run_json  # noqa: E402
from harness.systems import OURS  # noqa: E402


def command(code, *said, errors=""):
    """A command that prints these lines and ends with this code. What is no text is printed as JSON."""
    lines = [line if isinstance(line, str) else json.dumps(line) for line in said]
    return [sys.executable, "-c", "import sys; print(sys.argv[2]); print(sys.argv[3], file=sys.stderr); sys.exit(int(sys.argv[1]))", str(code), "\n".join(lines), errors]


class Commands(unittest.TestCase):
    def fails(self, code, *said, errors=""):
        """The type and the text of the error that the command raises."""
        with self.assertRaises(Failed) as raised:
            run_json(command(code, *said, errors=errors))
        return type(raised.exception), str(raised.exception)

    def test_the_last_line_of_json_is_the_result(self):
        self.assertEqual(7, run_json(command(0, "# kv", {"ops_per_s": 1}, {"ops_per_s": 7}))["ops_per_s"])

    def test_ours_failed_from_the_moment_its_members_had_formed(self):
        for bench in ("kv", "memory"):
            for code, error in ((1, "member 2: @ERR TimeoutException: put"), (1, "member 0: no answer in 120 s"), (3, "out of time")):
                result = {"bench": bench, "system": OURS, "error": error}
                self.assertEqual((Failed, f"exit code {code}: {error}"), self.fails(code, {**result, "began": True}))
                self.assertIs(NeverBegan, self.fails(code, result)[0])

    def test_ours_goes_by_its_own_word_only(self):
        self.assertIs(Failed, self.fails(1, {"system": OURS, "began": True, "cpu_others_share": 0.1})[0])
        self.assertIs(NeverBegan, self.fails(1, {"system": OURS, "began": False, "error": "no answer in 60 s"})[0])

    def test_the_others_failed_where_their_harness_shows_that_they_had_formed(self):
        for code, more in ((1, {"error": "no answer in 90 s", "cpu_others_share": 0.02}), (1, {"error": "no answer in 120 s"}), (3, {"error": "out of time"})):
            self.assertIs(Failed, self.fails(code, {"system": "ignite", **more})[0])
        for error in ("no answer in 90 s", "@ERR IllegalStateException: java.lang.IllegalStateException: view is [a]", "the Redis cluster did not come up"):
            self.assertIs(NeverBegan, self.fails(1, {"system": "ignite", "error": error})[0])

    def test_who_says_nothing_failed_whatever_the_exit_code(self):
        for code in (0, 1, 2, 137):
            self.assertEqual((Failed, f"exit code {code}, no result: killed"), self.fails(code, "# kv ida", errors="at work\nkilled"))
        self.assertEqual((Failed, "exit code 143, no result: no output"), self.fails(143))

    def test_who_dies_within_its_result_failed(self):
        self.assertIs(Failed, self.fails(137, '{"system": "ida", "err')[0])


if __name__ == "__main__":
    unittest.main()
