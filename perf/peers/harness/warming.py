"""How long each system warms up."""
import json
import statistics
from pathlib import Path

from .commands import Failed
from .judging import figure
from .rows import Metric

# The default of both harnesses for a failover. If no figure shows whether code is compiled, all systems get this.
DEFAULT_S = 15
RUNS = 3


def is_flat(before, now, most=0.05):
    return before > 0 and abs(now - before) / before < most


def sufficient(measure, steps=(5, 10, 20, 40)):
    """(the warm-up in seconds, whether the figure was flat there): the shortest warm-up whose figure changes by less than 5 % when it is doubled. A figure is the median of three runs, without those that failed."""
    def median(seconds):
        known = [value for value in (measure(seconds) for _ in range(RUNS)) if value is not None]
        if not known:
            raise Failed(f"no run after {seconds} s of warm-up")
        return statistics.median(known)

    before = median(steps[0])
    for shorter, longer in zip(steps, steps[1:]):
        now = median(longer)
        if is_flat(before, now):
            return shorter, True
        before = now
    return steps[-1], False


class WarmUps:
    """Warm-ups: given, or found once for a key and system and kept in a file. A search that failed is remembered too, but in no file: it fails again at once, and the next start searches again."""

    def __init__(self, given, file):
        self.given, self.file = given, Path(file) if file else None
        self.found = json.loads(self.file.read_text(encoding="utf-8")) if self.file and self.file.exists() else {}
        self.failed = {}

    def of(self, row, system, run):
        """(seconds, whether flat there); `run` makes one run with as many."""
        if self.given is not None:
            return self.given, True
        if row.judge is None:
            return DEFAULT_S, True
        key = f"{row.key} {system}"
        if key in self.failed:
            raise Failed(f"{self.failed[key]}, as before")
        if key not in self.found:
            def measure(seconds):
                try:
                    return figure(Metric(row.judge, "", True), run(seconds), row.judge)
                except Failed as failure:
                    print(f"# {key}, warm-up of {seconds} s: FAILED: {failure}", flush=True)
                    return None

            try:
                self.found[key] = sufficient(measure)
            except Failed as failure:
                self.failed[key] = str(failure)
                raise
            print(f"# {key}: warm-up {self.found[key][0]} s, {'flat' if self.found[key][1] else 'NOT FLAT'}", flush=True)
            if self.file:
                self.file.write_text(json.dumps(self.found, indent=1) + "\n", encoding="utf-8")
        return self.found[key]
