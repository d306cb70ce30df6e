"""The tables, figures that lose first."""
import math
import statistics

from .comparing import Comparison, Spread, is_ours, losers_first
from .rows import Metric

HEAD = "| Row | Figure | | median (least..most) | ran | best other | median (least..most) | ran | ratio per round | median | target |\n|---|---|---|---|---|---|---|---|---|---|---|"


def show(value):
    if value is None:
        return "-"
    if isinstance(value, float) and math.isinf(value):
        return "never"
    if not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def spread(figures):
    return "-" if figures is None or figures.median is None else f"{show(figures.median)} ({show(figures.least)}..{show(figures.most)})"


def ran(figures):
    return "" if figures is None else f"{figures.ran} of {figures.rounds}"


def line(row, c):
    """One figure against the best other."""
    ratios = " ".join(f"{r:.2f}" for r in c.ratios) or "-"
    median = "-" if c.median is None else f"{c.median:.2f}"
    target = "" if c.metric.target is None else f">= {c.metric.target:.2f}" + ("" if c.median is None else " met" if c.median >= c.metric.target else " MISSED")
    return f"| {row.name} | {c.metric.unit} | {c.system} | {spread(c.own)} | {ran(c.own)} | {c.best or ''} | {spread(c.other)} | {ran(c.other)} | {ratios} | {median} | {target} |"


def everyone(rows):
    """What each system reached and what it cost."""
    yield "| Row | System | ran | figure | us CPU per operation | MB resident, peak | allocated B per operation | warm-up s |\n|---|---|---|---|---|---|---|---|"
    for row, results in rows:
        for system, runs in results.items():
            first = row.metrics[0]
            per = "delivery" if row.words.startswith("multicast") else "op"
            cells = [Spread(first, runs, first.field if is_ours(system) else first.theirs), *(Spread(Metric(f, "", False), runs, f) for f in (f"cpu_us_per_{per}", "rss_peak_mb", f"allocated_bytes_per_{per}"))]
            known = next((r for r in runs if r), {})
            warmup = f"{known.get('warmup', '-')}{'' if known.get('warm', True) else ', not flat'}"
            note = f", fast paths {show(known['fast_path_share'])}" if is_ours(system) and isinstance(known.get("fast_path_share"), (int, float)) else ""
            yield f"| {row.name} | {system} | {ran(cells[0])} | {spread(cells[0])} {first.unit}{note} | {' | '.join(spread(c) for c in cells[1:])} | {warmup} |"


def limits(rows):
    for row, results in rows:
        if row.limit not in results:
            continue
        field = row.metrics[0].field
        shares = [o[field] / m[field] for o, m in zip(results["ida"], results[row.limit]) if o and m and m.get(field)]
        yield f"{row.name}: {' '.join(f'{s:.2f}' for s in shares) or '-'} of the probe {row.limit}" + (f", median {statistics.median(shares):.2f}" if shares else "") + "."


def table(suite, rows):
    compared = [(row, Comparison(metric, results, way, row.limit)) for row, results in rows for metric in row.metrics for way in results if is_ours(way)]
    lose, rest = losers_first(compared)
    parts = [f"\n## {suite}"]
    for title, lines in (("Where others win", lose), ("The rest", rest)):
        parts.append(f"\n### {title}\n\n" + ("\n".join([HEAD, *(line(row, c) for row, c in lines)]) if lines else "None of these."))
    parts.append("\n### Every system, and what it cost\n\n" + "\n".join(everyone(rows)))
    parts.append("\nA ratio above 1 is better, whatever the figure; it is taken against the best other of the same round. A failed run counts as the worst figure, and its ratio as 0.")
    if any("redis" in results for _, results in rows):
        parts.append("Redis: WAIT tells that replicas have received a write, not that it outlives a fail-over; an acknowledged write can be lost, and a get may show one that is not replicated yet.")
    return "\n".join([*parts, *limits(rows)])
