"""Whether a run counts: what it got wrong, what it did not reach, and what never ended."""
import math

# Share of the machine that other processes may use.
OTHERS = 0.1
# How far a rate may be missed; too much is as wrong as too little.
OFF = 0.02


def number(value):
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def wrong(result):
    """What a run got wrong, which makes it one that failed, whatever its harness says."""
    found = []
    if result.get("delivered_all") is False:
        found.append("not everything was delivered")
    if result.get("order_errors", 0) > 0:
        found.append(f"{result['order_errors']} out of order")
    if result.get("same_order_everywhere") is False:
        found.append("not the same order everywhere")
    if result.get("keys_missing_after", 0) > 0:
        found.append(f"{result['keys_missing_after']} keys missing afterwards")
    return found


def reached(rate, result):
    """What came of the rate asked for, as a share of it; None without a rate."""
    nodes = result.get("nodes", result.get("members", 0))
    # Deliveries of a failover: at every survivor, the messages of every survivor.
    got, asked = {"multicast": ("delivered_per_s_member_median", rate), "failover": ("ops_per_s_before", rate * (nodes - 1) ** 2)}.get(result.get("bench"), ("ops_per_s", rate * nodes))
    return result[got] / asked if asked and number(result.get(got)) is not None else None


def is_off(share):
    return share is not None and abs(share - 1) > OFF


def others(result):
    """The share of the machine that other processes had; a driver that could not even look had none of it. None where nobody looks."""
    share = result.get("cpu_others_share")
    return 1.0 if share == "none" else number(share)


def is_noisy(result):
    return (others(result) or 0) > OTHERS


def endless(result, field, within):
    """
    Whether that time of a failover had no end when the run ended, `within` seconds after the fault: nothing in the last seconds, or a gap of as many as there were (less one: nobody
    stops at once). An operation that is under way then is none of the successful ones, so that the slowest of those tells nothing.
    """
    if field in ("back_to_90_percent_ms", "new_view_ms"):
        return result.get(field) in (-1, "none")
    if within is None or field not in ("zero_ms_after_kill", "zero_ms_worst_survivor", "slowest_op_ms"):
        return False
    gap = "zero_ms_worst_survivor" if field == "slowest_op_ms" else field
    return result.get("ops_per_s_last_3_s") == 0 or (number(result.get(gap)) or 0) >= (within - 1) * 1000


def figure(metric, result, field, within=None):
    """The figure of one run; the worst there is when it failed or had no end; None when the run has no such figure."""
    if result is None or endless(result, field, within):
        return 0.0 if metric.more else math.inf
    value = number(result.get(field))
    return value if value is not None and value >= 0 else None
