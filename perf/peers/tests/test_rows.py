import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.rows import Metric, Row, options  # noqa: E402
from harness.suites import suites  # noqa: E402
from harness.systems import SILENCE_2_S, STORES, base  # noqa: E402

RATE, P50 = Metric("ops_per_s", "ops/s", True), Metric("all_p50_us", "us", False)


def words(row, system, *more):
    return options(" ".join(f"'{word}'" for word in row.command(system, {"--seconds": "5"}, *more)[1:]))


class Rows(unittest.TestCase):
    def test_a_row_says_more_than_what_is_given_and_less_than_what_stands_instead(self):
        row = Row("r", "failover --seconds 44 --fault stop", [RATE], [])
        self.assertEqual({"--seconds": "44", "--fault": "stop"}, words(row, "ida"))
        self.assertEqual({"--seconds": "44", "--fault": "kill"}, words(row, "ida", {"--fault": "kill"}))

    def test_redis_is_paced_one_by_one(self):
        row = Row("r", "kv --threads 2 --inflight 16", [RATE, P50], ["redis", "redis-unpipelined"]).at({"redis-unpipelined": 500, "ida": 900}, "each")
        self.assertEqual((["redis-unpipelined"], ["ida"]), (row.systems, row.ways))
        self.assertEqual(("1", "500"), tuple(words(row, "redis-unpipelined")[option] for option in ("--inflight", "--rate")))
        self.assertEqual(("16", "900"), tuple(words(row, "ida")[option] for option in ("--inflight", "--rate")))

    def test_at_a_rate_the_rate_is_no_figure_and_processor_time_tells_the_warm_up_whatever_the_rate(self):
        rows = [Row("r", "kv --threads 2", [RATE, P50], []).at({"ida": rate}, f"{rate}/s") for rate in (500, 600)]
        self.assertEqual(["all_p50_us"], [m.field for m in rows[0].metrics])
        self.assertEqual(({"cpu_us_per_op"}, 1), ({row.judge for row in rows}, len({row.key for row in rows})))

    def test_a_silent_member_is_out_after_as_long_everywhere(self):
        row = Row("r", "failover --fault stop", [RATE], [], SILENCE_2_S)
        self.assertEqual("2000", words(row, "ida")["--detection"])
        self.assertIn("max.no.heartbeat.seconds=2", words(row, "hazelcast")["--jvm"])
        self.assertEqual(["tuned"] * 2, [words(row, system)["--fd"] for system in ("ignite", "jgroups-udp")])

    def test_a_failover_looks_on_for_what_is_left_after_the_fault(self):
        self.assertEqual((33, None), (Row("r", "failover --seconds 44", [RATE], []).within, Row("r", "kv", [RATE], []).within))

    def test_a_stop_is_watched_for_forty_seconds(self):
        self.assertTrue(all(int(row["--seconds"]) >= 40 for row in suites(STORES)["stop"]))

    def test_only_stores_asked_for_take_part(self):
        found = {base(s) for suite in ("kv", "half", "multikey") for row in suites(["redis", "ignite"])[suite] for s in row.systems}
        self.assertEqual({"redis", "ignite"}, found)

    def test_names_of_rows_are_unique_and_what_shares_a_warm_up_is_the_same_load(self):
        for rows in suites(STORES).values():
            self.assertEqual(len(rows), len({row.name for row in rows}))
        loads = {}
        for rows in suites(STORES).values():
            for row in (r for r in rows if r.bench != "failover"):
                loads.setdefault(row.key, set()).add((row.bench, *row.words.items()))
        self.assertEqual([], [key for key, words in loads.items() if len(words) > 1])

    def test_a_read_that_is_not_atomic_is_not_compared(self):
        gets = [row for row in suites(STORES)["multikey"] if row["--op"] == "get"]
        self.assertFalse(any("infinispan-optimistic" in row.systems for row in gets))


if __name__ == "__main__":
    unittest.main()
