"""The command line; see ../../README.md."""
import argparse
import os
import signal
import sys

from .commands import run
from .comparing import Spread
from .printing import table
from .rows import STORES, suites
from .running import MACRO, ROOT, Runner

SUITES = ["multicast", "kv", "zipf", "half", "multikey", "failover", "latency", "p2p"]


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"run: {message}; see perf/README.md\n")


def parse(arguments):
    parser = Parser(prog="perf/peers/run", allow_abbrev=False)
    parser.add_argument("suite", choices=[*SUITES, "all"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--warmup", type=int, help="seconds for every system; without it found for each row and system")
    parser.add_argument("--warmups", help="file that keeps the warm-ups found")
    parser.add_argument("--systems", default=",".join(STORES), help="of kv, half, multikey, failover; comma-separated; redis for kv and half only")
    parser.add_argument("--rows", default="", help="only rows whose name contains this")
    parser.add_argument("--peers", default=os.environ.get("PEERS", str(ROOT.parent / "shared/peers")), help="folder of the peer harness (also PEERS)")
    parser.add_argument("--probes", default=os.environ.get("PROBES", ""), help="folder of the probes (also PROBES); default beside the peer harness")
    parser.add_argument("--out", help="file that gets every JSON line")
    options = parser.parse_args(arguments)
    options.systems = [s for s in options.systems.split(",") if s]
    unknown = [s for s in options.systems if s not in STORES]
    if unknown or not options.systems:
        parser.error(f"--systems must name some of {', '.join(STORES)}, not '{','.join(unknown)}'")
    if min(options.rounds, options.seconds) < 1 or (options.warmup or 0) < 0:
        parser.error("--rounds and --seconds must be at least 1, --warmup at least 0")
    return options


def half_of_slowest(row, results):
    """Half of the least closed-loop rate of any system that ran, operations per second and node."""
    spreads = [Spread(row.metrics[0], runs, "ops_per_s") for runs in results.values()]
    rates = [s.median for s in spreads if s.ran and s.median]
    return int(min(rates) / 2 / int(row.word("--nodes"))) if rates else 0


def measure(runner, suite, row):
    """The row, and behind it the same at half of the slowest system's rate where it asks for that."""
    done = [(row, runner.row(suite, row))]
    if row.half and (rate := half_of_slowest(*done[0])):
        at = row.at(rate)
        done.append((at, runner.row(suite, at)))
    return done


def main(arguments):
    options = parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    code, out, err, _ = run(["dotnet", "build", str(MACRO), "-c", "Release", "--nologo", "-v", "q"])
    if code != 0:
        print(out + err, file=sys.stderr)
        return 1
    runner = Runner(options)
    try:
        for suite, rows in suites(options).items():
            if options.suite not in (suite, "all"):
                continue
            done = [pair for row in rows if options.rows in row.name for pair in measure(runner, suite, row)]
            print(table(suite, done), flush=True)
    finally:
        runner.close()
    return 1 if runner.failures else 0
