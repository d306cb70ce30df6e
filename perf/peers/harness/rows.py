"""The workloads: words for both harnesses, the figures to compare, and the systems that take part."""
STORES = ["hazelcast", "ignite", "infinispan", "redis"]
JGROUPS = ["jgroups-tcp", "jgroups-udp"]
# What the peer harness calls a system, and the words that make it so.
HARNESS = {"jgroups-tcp": ("jgroups", ["--transport", "tcp"]), "jgroups-udp": ("jgroups", ["--transport", "udp", "--ip-mcast", "true"])}
# Ways of calling this system.
OURS_BY = {"ida": [], "ida-blocking": ["--calls", "blocking"]}


class Metric:
    """One figure of a row: its field, whether more is better, and the least ratio (ours to the best other, turned so that above 1 is better) aimed at."""

    def __init__(self, field, unit, more, target=None, theirs=None):
        self.field, self.unit, self.more, self.target, self.theirs = field, unit, more, target, theirs or field


class Row:
    """One workload: the words for both harnesses, and more words for one of them. With a limit, the probe that shows what the machine can do at most."""

    def __init__(self, name, words, metrics, systems, theirs="", ours="", limit=None, ways=("ida",), half=False):
        self.name, self.words, self.metrics, self.systems, self.theirs, self.ours = name, words, metrics, systems, theirs, ours
        self.limit, self.ways, self.half = limit, ways, half

    def word(self, option):
        words = self.words.split()
        return words[words.index(option) + 1]

    def at(self, rate):
        """The same at so many operations per second and node."""
        return Row(f"{self.name}, {rate}/s a node", f"{self.words} --rate {rate}", self.metrics, self.systems, self.theirs, self.ours, None, ("ida",))


MEMORY = Metric("rss_peak_mb", "MB resident, peak", False)


def deliveries(target):
    return [Metric("delivered_per_s_member_median", "deliveries/s", True, target), Metric("cpu_us_per_delivery", "us CPU", False), MEMORY]


def operations(target):
    return [Metric("ops_per_s", "ops/s", True, target), Metric("cpu_us_per_op", "us CPU", False),
            *(Metric(f"all_{at}_us", f"us {at}", False) for at in ("p50", "p99", "p999")), MEMORY]


OUTAGE = [Metric("zero_ms_after_kill", "ms nothing", False, 1.0), Metric("zero_ms_worst_survivor", "ms nothing, worst survivor", False),
          Metric("back_to_90_percent_ms", "ms to 90 %", False), Metric("slowest_op_ms", "ms slowest operation", False), Metric("errors", "errors", False),
          Metric("ops_per_s_last_3_s", "ops/s at the end", True), MEMORY]
# The target of the round trip is 1.5 times the bare reactor.
TRIPS = [Metric(f"{row}_p50_us", f"us {row} p50", False, 1 / 1.5 if row in ("send_inline", "send") else None, "p50_us") for row in ("node", "send_inline", "send", "query_inline", "query")]


def latency(target):
    """From when a message was due."""
    return [*(Metric(f"{kind}_{at}_us", f"us {kind} {at}", False, target if at != "p999" else None) for kind in ("self", "round_trip") for at in ("p50", "p99", "p999")),
            Metric("cpu_us_per_delivery", "us CPU", False), MEMORY]


def kv(name, words, target, systems, ways=("ida",), half=False):
    return Row(name, f"kv --backups 1 {words}", operations(target), systems, ways=ways, half=half)


def suites(options):
    stores, fault = options.systems, f"--seconds {max(14, options.seconds)}"
    atomic = [s for s in stores if s != "redis"]
    return {
        "multicast": [Row(f"{order} {size} B", f"multicast --order {order} --members 3 --size {size}", deliveries(2.5 if size == 100 else 1.5), JGROUPS, limit="mesh" if order == "fifo" else None)
                      for order in ("fifo", "total") for size in (100, 1000)],
        "kv": [*(kv(f"{mix} {threads} x {inflight}", f"--nodes 4 --mix {mix} --threads {threads} --inflight {inflight}", 2.0, stores, ("ida", "ida-blocking") if inflight == 1 else ("ida",))
                 for threads, inflight in ((2, 16), (4, 1)) for mix in ("get", "put", "mixed95")),
               *(kv(f"{mix} {size} B 4 x 1", f"--nodes 4 --mix {mix} --threads 4 --value {size} --keyspace {keys}", None, stores, ("ida", "ida-blocking"))
                 for size, keys in ((10_240, 20_000), (102_400, 2_000)) for mix in ("get", "put")),
               *(kv(f"{mix} 8 nodes 2 x 16", f"--nodes 8 --mix {mix} --threads 2 --inflight 16", None, stores) for mix in ("get", "put"))],
        # The peer harness draws keys uniformly only: this system alone.
        "zipf": [kv(f"{mix} zipf 0.99 2 x 16", f"--nodes 4 --mix {mix} --threads 2 --inflight 16 --keys-by zipf", None, []) for mix in ("put", "mixed50")],
        "half": [kv(f"{mix} 2 x 16", f"--nodes 4 --mix {mix} --threads 2 --inflight 16", None, stores, half=True) for mix in ("put", "mixed95")],
        "multikey": [Row(f"{keys}-key {op}", f"multikey --nodes 4 --backups 1 --keys {keys} --op {op} --threads 4", operations(10.0 if (keys, op) == (3, "put") else None), atomic)
                     for keys, op in ((3, "put"), (3, "get"), (8, "put"))],
        "failover": [Row("kill", f"failover --nodes 5 --backups 1 --fault kill {fault}", OUTAGE, atomic),
                     Row("stop", f"failover --nodes 5 --backups 1 --fault stop {fault}", OUTAGE, atomic, theirs="--fd tuned")],
        "latency": [Row(f"{order} 1000/s{', spin 1 ms' if spin else ''}", f"multicast --order {order} --members 3 --size 100 --rate 1000", latency(2.0 if order == "total" else None), JGROUPS, ours=spin)
                    for order, spin in (("fifo", ""), ("total", ""), ("total", "--spin 1000"))],
        "p2p": [Row("round trip 100 B", "p2p --size 100", TRIPS, ["rtt"])],
    }
