"""Figures of runs held against each other. A run that failed is worse than any that did not, and so is one that never recovered."""
import math
import statistics

OURS = "ida"
NOT_RECOVERED = "back_to_90_percent_ms"


def is_ours(system):
    return system.split("-")[0] == OURS


def worst(metric):
    return 0.0 if metric.more else math.inf


def figure(metric, result, field):
    """The figure of one run; the worst there is when it failed or never recovered; None when the run has no such figure."""
    if result is None:
        return worst(metric)
    value = result.get(field)
    if field == NOT_RECOVERED and value == -1:
        return math.inf
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0 else None


def ratio(metric, ours, other):
    """Above 1: ours is better. Nothing to divide by is taken as one unit (10 ms steps, whole operations)."""
    better, worse = (ours, other) if metric.more else (other, ours)
    if math.isinf(better) or math.isinf(worse):
        return 1.0 if better == worse else math.inf if math.isinf(better) else 0.0
    return better / worse if min(better, worse) > 0 else 0.0 if metric.more and ours == 0 else (better + 10) / (worse + 10)


class Spread:
    """Median, least and greatest of the figures of all rounds, and how many of the runs there were."""

    def __init__(self, metric, runs, field):
        self.values = [figure(metric, r, field) for r in runs]
        known = [v for v in self.values if v is not None]
        self.median = statistics.median(known) if known else None
        self.least, self.most = (min(known), max(known)) if known else (None, None)
        self.ran, self.rounds = sum(r is not None for r in runs), len(runs)


class Comparison:
    """One figure of one of our ways of calling against the best other system: of all rounds by its median, and of each round."""

    def __init__(self, metric, results, own=OURS, limit=None):
        self.metric, self.system = metric, own
        self.own = Spread(metric, results[own], metric.field)
        others = {s: Spread(metric, runs, metric.theirs) for s, runs in results.items() if not is_ours(s) and s != limit}
        choose = max if metric.more else min
        ranked = {s: spread.median for s, spread in others.items() if spread.median is not None and spread.ran}
        self.best = choose(ranked, key=ranked.get) if ranked else None
        self.other = others.get(self.best)
        self.ratios = []
        for number, (value, run) in enumerate(zip(self.own.values, results[own])):
            # A round in which every other failed claims nothing.
            there = [spread.values[number] for s, spread in others.items() if results[s][number] is not None and spread.values[number] is not None]
            if value is not None and there:
                self.ratios.append(0.0 if run is None else ratio(metric, value, choose(there)))
        self.median = statistics.median(self.ratios) if self.ratios else None

    @property
    def loses(self):
        return self.median is not None and self.median < 1


def losers_first(comparisons):
    """(those that lose, worst first; the others in their order), each a (row, comparison)."""
    return sorted((c for c in comparisons if c[1].loses), key=lambda c: c[1].median), [c for c in comparisons if not c[1].loses]


def order(systems, number):
    """The order of the systems in a round: backwards in every second one, and another one first after every two."""
    at = number // 2 % len(systems)
    turned = [*systems[at:], *systems[:at]]
    return turned[::-1] if number % 2 else turned


def is_flat(before, now, most=0.05):
    return before > 0 and abs(now - before) / before < most


def sufficient(measure, steps=(5, 10, 20, 40)):
    """(the warm-up in seconds, whether the figure was flat there): the first whose figure the doubled one changes by less than 5 %."""
    before = measure(steps[0])
    for shorter, longer in zip(steps, steps[1:]):
        now = measure(longer)
        if is_flat(before, now):
            return shorter, True
        before = now
    return steps[-1], False
