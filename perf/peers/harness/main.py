"""The command line; see ../README.md."""
import argparse
import os
import signal
import sys

from .commands import run
from .comparing import half_rates
from .printing import table
from .running import MACRO, ROOT, Runner
from .suites import suites
from .systems import STORES

SUITES = list(suites(STORES))


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"run: {message}; see perf/peers/README.md\n")


def parse(arguments):
    parser = Parser(prog="perf/peers/run", allow_abbrev=False)
    parser.add_argument("suite", choices=[*SUITES, "all"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="window of all but failovers and memory")
    parser.add_argument("--warmup", type=int, help="seconds for every system; without it found for each row and system")
    parser.add_argument("--warmups", help="file that keeps the warm-ups found")
    parser.add_argument("--repeats", type=int, default=2, help="more tries of a run beside which others had more than a tenth of the machine")
    parser.add_argument("--systems", default=",".join(STORES), help="which of these take part where keys and values are kept; comma-separated")
    parser.add_argument("--rows", default="", help="only rows whose name contains this")
    parser.add_argument("--quick", action="store_true", help="one short round of everything with few entries: only whether it runs")
    parser.add_argument("--peers", default=os.environ.get("PEERS", str(ROOT.parent / "shared/peers")), help="folder of the peer harness (also PEERS)")
    parser.add_argument("--probes", default=os.environ.get("PROBES", ""), help="folder of the probes (also PROBES); default beside the peer harness")
    parser.add_argument("--out", help="file that gets every JSON line")
    options = parser.parse_args(arguments)
    if options.quick:
        options.rounds, options.seconds, options.warmup, options.repeats = 1, 1, 1, 0
    options.systems = [s for s in options.systems.split(",") if s]
    unknown = [s for s in options.systems if s not in STORES]
    if unknown or not options.systems:
        parser.error(f"--systems must name some of {', '.join(STORES)}, not '{','.join(unknown)}'")
    if min(options.rounds, options.seconds) < 1 or (options.warmup or 0) < 0 or options.repeats < 0:
        parser.error("--rounds and --seconds must be at least 1, --warmup and --repeats at least 0")
    if not chosen(options):
        parser.error(f"no row of {options.suite} has '{options.rows}' in its name")
    return options


def chosen(options):
    """The rows asked for by suite; without suites that have none of them."""
    rows = {suite: [row for row in rows if options.rows in row.name] for suite, rows in suites(options.systems, options.quick).items() if options.suite in (suite, "all")}
    return {suite: some for suite, some in rows.items() if some}


def measure(runner, suite, row):
    """The row, and behind it, where it asks for that, the same at half of the slowest system's rate and at half of each system's own."""
    done = [(row, runner.row(suite, row))]
    if row.half and (rates := half_rates(*done[0])):
        slowest = min(rates.values())
        for at in (row.at(dict.fromkeys(rates, slowest), f"{slowest}/s a node"), row.at(rates, "each at half of its own rate")):
            done.append((at, runner.row(suite, at)))
    return done


def main(arguments):
    options = parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    code, out, err = run(["dotnet", "build", str(MACRO), "-c", "Release", "--nologo", "-v", "q"])
    if code != 0:
        print(out + err, file=sys.stderr)
        return 1
    runner = Runner(options)
    try:
        for suite, rows in chosen(options).items():
            print(table(suite, [pair for row in rows for pair in measure(runner, suite, row)]), flush=True)
    finally:
        runner.close()
    return 1 if runner.failures else 0
