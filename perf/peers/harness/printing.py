"""The tables, figures that lose first."""
import math
import statistics

from .comparing import Comparison, Spread, losers_first
from .judging import number
from .notes import notes
from .rows import Metric
from .systems import is_ours

HEAD = "| Row | Figure | | median (least..most) | ran | best other | median (least..most) | ran | ratio per round | median | target |\n|---|---|---|---|---|---|---|---|---|---|---|"
COSTS = "| Row | System | ran | figure | us CPU per operation | MB resident, peak | allocated B per operation | errors | warm-up s |\n|---|---|---|---|---|---|---|---|---|"


def show(value, within=None):
    if value is None:
        return "-"
    if math.isinf(value):
        return f"not within {within} s" if within else "failed"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def spread(figures):
    if figures is None or figures.median is None:
        return "-"
    if not figures.ran:
        return "failed"
    median, least, most = (show(value, figures.within) for value in (figures.median, figures.least, figures.most))
    return median if math.isinf(figures.least) else f"{median} ({least}..{most})"


def ran(figures):
    if figures is None:
        return ""
    marks = [f"{count} {what}" for count, what in ((figures.noisy, "noisy"), (figures.restarted, "restarted")) if count]
    if figures.off:
        marks.append("off rate " + " ".join(f"{share:.2f}" for share in figures.off))
    return ", ".join([f"{figures.ran} of {figures.rounds}", *marks])


def line(row, c):
    """One figure against the best other."""
    ratios = " ".join(f"{r:.2f}" for r in c.ratios) or "-"
    median = "-" if c.median is None else f"{c.median:.2f}"
    target = "" if c.metric.target is None else f">= {c.metric.target:.2f}" + ("" if c.median is None else " met" if c.median >= c.metric.target else " MISSED")
    return f"| {row.name} | {c.metric.unit} | {c.system} | {spread(c.own)} | {ran(c.own)} | {c.best or ''} | {spread(c.other)} | {ran(c.other)} | {ratios} | {median} | {target} |"


def beside(system, run):
    """What stands behind a system's figure and behind its memory."""
    def known(field, text):
        value = number(run.get(field))
        return "" if value is None else text.format(show(value))
    figure = known("self_from_send_p50_us", ", {} from send") + (known("rate", ", at {}/s a node") if "ops_per_s" in run and run.get("rate") else "") + (known("fast_path_share", ", fast paths {}") if is_ours(system) else "")
    if run.get("survivors_delivered_same_number") is False:
        figure += ", survivors delivered different numbers"
    return figure, known("rss_clients_mb", ", clients {}")


def everyone(rows):
    """What each system reached and what it cost."""
    yield COSTS
    for row, results in rows:
        first = row.metrics[0]
        per = "delivery" if row.bench == "multicast" else "op"
        for system, runs in results.items():
            reached = Spread(first, runs, first.field if is_ours(system) else first.theirs, row.within)
            known = next((r for r in runs if r), {})
            figure, memory = beside(system, known)
            cpu, held, allocated = (spread(Spread(Metric(field, "", False), [r for r in runs if r], field)) for field in (f"cpu_us_per_{per}", "rss_peak_mb", f"allocated_bytes_per_{per}"))
            errors = [r["errors"] for r in runs if r and "errors" in r]
            warmup = f"{known.get('warmup', '-')}{'' if known.get('warm', True) else ', not flat'}"
            yield f"| {row.name} | {system} | {ran(reached)} | {spread(reached)} {first.unit}{figure} | {cpu} | {held}{memory} | {allocated} | {sum(errors) if errors else '-'} | {warmup} |"


def limits(rows):
    for row, results in rows:
        if row.limit not in results:
            continue
        field = row.metrics[0].field
        shares = [o[field] / m[field] for o, m in zip(results["ida"], results[row.limit]) if o and m and m.get(field)]
        yield f"{row.name}: {' '.join(f'{s:.2f}' for s in shares) or '-'} of the probe {row.limit}" + (f", median {statistics.median(shares):.2f}" if shares else "") + "."


def table(suite, rows):
    compared = [(row, Comparison(metric, results, way, row.aside, row.within)) for row, results in rows for metric in row.metrics for way in results if is_ours(way)]
    lose, rest = losers_first([(row, c) for row, c in compared if c.tells])
    parts = [f"\n## {suite}"]
    for title, lines in (("Where others win", lose), ("The rest", rest)):
        parts.append(f"\n### {title}\n\n" + ("\n".join([HEAD, *(line(row, c) for row, c in lines)]) if lines else "None of these."))
    parts.append("\n### Every system, and what it cost\n\n" + "\n".join(everyone(rows)))
    return "\n".join([*parts, "", *notes(suite, {system for _, results in rows for system in results}), *limits(rows)])
