"""Figures of runs held against each other. A run that failed is worse than any that did not, and so is one that never recovered."""
import math
import statistics

from .judging import endless, figure, is_off
from .systems import OURS, UNPACED, is_ours


def ratio(metric, ours, other):
    """Above 1: ours is better. Nothing to divide by is taken as one unit (10 ms steps, whole operations)."""
    better, worse = (ours, other) if metric.more else (other, ours)
    if math.isinf(better) or math.isinf(worse):
        return 1.0 if better == worse else math.inf if math.isinf(better) else 0.0
    return better / worse if min(better, worse) > 0 else 0.0 if metric.more and ours == 0 else (better + 10) / (worse + 10)


class Spread:
    """Median, least and greatest of the figures of all rounds, how many of the runs there were, and what is to be said of them."""

    def __init__(self, metric, runs, field, within=None):
        self.values = [figure(metric, r, field, within) for r in runs]
        known = [v for v in self.values if v is not None]
        self.median = statistics.median(known) if known else None
        self.least, self.most = (min(known), max(known)) if known else (None, None)
        there = [r for r in runs if r is not None]
        self.ran, self.rounds = len(there), len(runs)
        self.restarted = sum(r.get("began_not", 0) for r in there)
        self.noisy = sum(bool(r.get("noisy")) for r in there)
        self.off = [r["rate_reached"] for r in there if is_off(r.get("rate_reached"))]
        self.within = within if any(endless(r, field, within) for r in there) else None


class Comparison:
    """One figure of one of our ways of calling against the best other system: of all rounds by its median, and of each round."""

    def __init__(self, metric, results, own=OURS, aside=(), within=None):
        self.metric, self.system = metric, own
        self.own = Spread(metric, results[own], metric.field, within)
        others = {s: Spread(metric, runs, metric.theirs, within) for s, runs in results.items() if not is_ours(s) and s not in aside}
        choose = max if metric.more else min
        ranked = {s: spread.median for s, spread in others.items() if spread.median is not None and spread.ran}
        self.best = choose(ranked, key=ranked.get) if ranked else None
        self.other = others.get(self.best)
        self.ratios = []
        for number, (value, run) in enumerate(zip(self.own.values, results[own])):
            # A round in which all other systems failed proves nothing. A figure that our run lacks loses like a failed run.
            there = [spread.values[number] for s, spread in others.items() if results[s][number] is not None and spread.values[number] is not None]
            if there:
                self.ratios.append(0.0 if run is None or value is None else ratio(metric, value, choose(there)))
        # For an even number, the lower of the two middle ratios: there is no mean of a failed run and of a run that no other system finished.
        self.median = statistics.median_low(self.ratios) if self.ratios else None

    @property
    def loses(self):
        return self.median is not None and self.median < 1

    @property
    def tells(self):
        """Not when nobody had any error."""
        return self.metric.field != "errors" or any(self.own.values) or any(self.other.values if self.other else [])


def losers_first(comparisons):
    """(those that lose, worst first; the others in their order), each a (row, comparison)."""
    return sorted((c for c in comparisons if c[1].loses), key=lambda c: c[1].median), [c for c in comparisons if not c[1].loses]


def order(systems, number):
    """The order of the systems in a round: reversed in every second round, and with another system first after every two rounds."""
    at = number // 2 % len(systems)
    turned = [*systems[at:], *systems[:at]]
    return turned[::-1] if number % 2 else turned


def half_rates(row, results):
    """Half of what each system that ran, and can keep a rate, reached in its closed loop: operations per second and node, the same for each thread."""
    medians = {system: Spread(row.metrics[0], runs, "ops_per_s") for system, runs in results.items() if system not in UNPACED}
    threads = int(row["--threads"])
    halves = {system: int(s.median / 2 / int(row["--nodes"])) // threads * threads for system, s in medians.items() if s.ran and s.median}
    return {system: rate for system, rate in halves.items() if rate}
