"""What is compared."""
from .rows import Metric, Row
from .systems import JGROUPS, SILENCE_2_S, of

ERRORS = Metric("errors", "errors", False)
MEMORY = Metric("rss_peak_mb", "MB resident, peak", False)
GAPS = [Metric("zero_ms_after_kill", "ms nothing", False, 1.0), Metric("zero_ms_worst_survivor", "ms nothing, worst survivor", False), Metric("back_to_90_percent_ms", "ms to 90 %", False)]
END = Metric("ops_per_s_last_3_s", "per second at the end", True)
OUTAGE = [*GAPS, ERRORS, END, MEMORY]
SILENCE = [*GAPS, Metric("slowest_op_ms", "ms slowest operation", False), ERRORS, END, MEMORY]
NEW_VIEW = [*GAPS, Metric("new_view_ms", "ms to the new view", False), END, MEMORY]
HELD = [Metric("bytes_per_entry", "B per entry, 2 copies", False), Metric("resident_mb", "MB resident", False)]
# The target is at most 1.5 times the round trip of the bare reactor.
TRIPS = [Metric(f"{row}_p50_us", f"us {row} p50", False, 1 / 1.5 if row in ("send_inline", "send") else None, "p50_us") for row in ("node", "send_inline", "send", "query_inline", "query")]


def deliveries(target):
    return [Metric("delivered_per_s_member_median", "deliveries/s", True, target), Metric("cpu_us_per_delivery", "us CPU", False), MEMORY]


def operations(target):
    return [Metric("ops_per_s", "ops/s", True, target), *(Metric(f"all_{at}_us", f"us {at}", False) for at in ("p50", "p99", "p999")),
            Metric("cpu_us_per_op", "us CPU", False), ERRORS, MEMORY]


def latency(target):
    """From when a message was due, and from when the sender, which may oversleep, called send."""
    return [*(Metric(f"{kind}_{at}_us", f"us {kind} {at}", False, target if at != "p999" else None) for kind in ("self", "round_trip") for at in ("p50", "p99", "p999")),
            *(Metric(f"{kind}_from_send_{at}_us", f"us {kind} {at} from send", False) for kind in ("self", "round_trip") for at in ("p50", "p99")),
            Metric("cpu_us_per_delivery", "us CPU", False), MEMORY]


def suites(stores, quick=False):
    """Quick: the same rows with few entries and short failovers, to see whether they run."""
    entries, many = ("2000", "20000") if quick else ("100000", "300000")
    killed, stopped = (8, 12) if quick else (24, 44)
    atomic = [s for s in stores if s != "redis"]
    backup = of(stores, ["hazelcast-read-backup", "ignite-read-backup"])
    paced = [*stores, *of(stores, ["redis-unpipelined"])]

    def kv(name, words, target, systems, ways=("ida",), keys=entries, **more):
        return Row(name, f"kv --backups 1 --keyspace {keys} {words}", operations(target), systems, ways=ways, **more)

    def failover(name, words, metrics, systems, seconds, more=None, judge="ops_per_s_before", key="before the fault"):
        return Row(name, f"failover {words} --seconds {seconds}", metrics, systems, more, judge=judge, key=key, search="--seconds 8 --fault kill")

    def lost(fault, seconds, more=None):
        return failover(f"{fault} of a node", f"--nodes 5 --backups 1 --keyspace {entries} --fault {fault}", SILENCE if fault == "stop" else OUTAGE, atomic, seconds, more)

    def gone(order, victim, fault, seconds, more=None):
        ours = " ".join(["--load multicast", (more or {}).get("ida", "")])
        return failover(f"{fault} of the {'coordinator' if victim == 'first' else 'youngest'}, {order} order, 2000/s a member", f"--members 5 --order {order} --victim {victim} --fault {fault} --rate 2000",
                        NEW_VIEW, [*JGROUPS, "jgroups-nakack2"], seconds, {**(more or {}), "ida": ours}, judge=None)

    return {
        "multicast": [Row(f"{order} {size} B", f"multicast --order {order} --members 3 --size {size}", deliveries(2.5 if size == 100 else 1.5), JGROUPS, limit="mesh" if order == "fifo" else None)
                      for order in ("fifo", "total") for size in (100, 1000)],
        "kv": [*(kv(f"{mix} {threads} x {inflight}", f"--nodes 4 --mix {mix} --threads {threads} --inflight {inflight}", 2.0, [*stores, *(backup if mix != "put" else [])],
                    ("ida", "ida-blocking") if inflight == 1 else ("ida",))
                 for threads, inflight in ((2, 16), (4, 1)) for mix in ("get", "put", "mixed95")),
               *(kv(f"{mix} {size} B 4 x 1", f"--nodes 4 --mix {mix} --threads 4 --value {size}", None, stores, ("ida", "ida-blocking"), keys=min(keys, int(entries)))
                 for size, keys in ((10_240, 20_000), (102_400, 2_000)) for mix in ("get", "put")),
               *(kv(f"{mix} 8 nodes 2 x 16", f"--nodes 8 --mix {mix} --threads 2 --inflight 16", None, stores) for mix in ("get", "put"))],
        # The peer harness can draw keys only uniformly, so this row has our system alone.
        "zipf": [kv(f"{mix} zipf 0.99 2 x 16", f"--nodes 4 --mix {mix} --threads 2 --inflight 16 --keys-by zipf", None, []) for mix in ("put", "mixed50")],
        "half": [kv(f"{mix} 2 x 16", f"--nodes 4 --mix {mix} --threads 2 --inflight 16", None, paced, half=True, aside=["redis-unpipelined"]) for mix in ("put", "mixed95")],
        "multikey": [Row(f"{keys}-key {op}", f"multikey --nodes 4 --backups 1 --keyspace {entries} --keys {keys} --op {op} --threads 4", operations(10.0 if (keys, op) == (3, "put") else None),
                         [*atomic, *of(stores, ["ignite-optimistic", *([] if op == "get" else ["hazelcast-one-phase", "infinispan-optimistic"])])])
                     for keys, op in ((3, "put"), (3, "get"), (8, "put"))],
        "failover": [lost("kill", killed), gone("fifo", "last", "kill", killed), gone("total", "first", "kill", killed)],
        "stop": [lost("stop", stopped, SILENCE_2_S), gone("total", "first", "stop", stopped, SILENCE_2_S)],
        "latency": [Row(f"{order} 1000/s{', spin 1 ms' if spin else ''}", f"multicast --order {order} --members 3 --size 100 --rate 1000", latency(2.0 if order == "total" else None), JGROUPS,
                        {"ida": spin}, judge="cpu_us_per_delivery", key=f"{order} 1000/s")
                    for order, spin in (("fifo", ""), ("total", ""), ("total", "--spin 1000"))],
        "memory": [Row(f"{many} entries of {size} B", f"memory --nodes 4 --backups 1 --keyspace {many} --value {size}", HELD, stores, judge=None) for size in (100, 1000)],
        "p2p": [Row("round trip 100 B", "p2p --size 100", TRIPS, ["rtt"])],
    }
