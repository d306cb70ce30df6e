"""The systems: what the peer harness calls each, and the words that make it so."""
STORES = ["hazelcast", "ignite", "infinispan", "redis"]
JGROUPS = ["jgroups-tcp", "jgroups-udp"]
OURS = "ida"
# A system that is not listed here has the same name in the peer harness.
VARIANTS = {
    "jgroups-tcp": ("jgroups", "--transport tcp"),
    "jgroups-udp": ("jgroups", "--transport udp --ip-mcast true"),
    "jgroups-nakack2": ("jgroups", "--transport tcp --stack nakack2"),
    "hazelcast-read-backup": ("hazelcast", "--read-backup true"),
    "ignite-read-backup": ("ignite", "--read-backup true"),
    "hazelcast-one-phase": ("hazelcast", "--tx one"),
    "ignite-optimistic": ("ignite", "--cc optimistic"),
    "infinispan-optimistic": ("infinispan", "--cc optimistic"),
    "redis-unpipelined": ("redis", "--inflight 1"),
}
# Its harness sends a whole batch whenever one operation is due, so it keeps a rate only without batches.
UNPACED = ["redis"]
# Ways of calling our system.
WAYS = {"ida": "", "ida-blocking": "--calls blocking"}
# What a system needs on this machine in addition to the peer harness.
NEEDS = {"redis": ["redis-server", "redis-cli"]}
# A silent member is excluded after 2 s. The harness' "tuned" does that for all but Hazelcast, which it gives 3 s.
SILENCE_2_S = {
    OURS: "--detection 2000",
    "hazelcast": "--jvm '" + " ".join(f"-Dhazelcast.{name}={value}" for name, value in {
        "heartbeat.interval.seconds": 1, "max.no.heartbeat.seconds": 2, "connection.monitor.interval": 20, "connection.monitor.max.faults": 1,
        "operation.call.timeout.millis": 5000}.items()) + "'",
    "": "--fd tuned",
}


def is_ours(system):
    return system.split("-")[0] == OURS


def base(system):
    """What the harness calls it."""
    return OURS if is_ours(system) else VARIANTS.get(system, (system, ""))[0]


def of(stores, variants):
    """The variants of those stores, in their order."""
    return [v for v in variants if base(v) in stores]
