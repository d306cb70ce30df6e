"""What has to be said below a table, by suite and by who took part."""
BYTES = ("Every byte is written and checked here, which costs 4 and 6 ns at 100 B, 9 and 13 ns at 1 KB, 0.1 and 0.1 us at 10 KB, 1.2 and 1.3 us at 100 KB; the other harness looks at lengths and numbers only"
         " (and copies each value that it puts).")
SUITES = {
    "multicast": [BYTES],
    "kv": [BYTES, "Infinispan and *-read-backup read from a copy of their own, which may lag behind an acknowledged put; ida reads from a copy too, strictly."],
    "zipf": ["The other harness draws keys uniformly only: there is nobody to compare with."],
    "half": [BYTES, "Redis is paced without pipelines (redis-unpipelined), and half of its own rate is half of that one's: its harness sends a whole batch whenever one operation is due."],
    "multikey": [BYTES],
    "stop": ["A silent member is out after 2 s everywhere. The slowest operation is that of the whole run, warm-up included, in both harnesses, but after the fault where it is above those 2 s."],
    "latency": [BYTES, "Latency counts from when a message was due; from send is without the sender's oversleeping, but blind to what held the sender up."],
    "memory": ["Resident memory of all members after a full collection, with all entries less that with a thousand, by entry, both copies together; a key is 8 B (Redis: up to 7 characters). "
               "JVMs ran with a heap that gives back what is free; shared pages count in each process; Redis: servers only."],
}
SYSTEMS = {
    "redis": "Redis: memory is that of its servers, its clients' stands apart; the other systems and their load share one process each. WAIT tells that replicas have received a write, not that it outlives a fail-over; "
             "an acknowledged write can be lost, and a get may show one that is not replicated yet.",
    "hazelcast-one-phase": "hazelcast-one-phase commits without preparing: a member that fails meanwhile may leave half of a transaction.",
    "jgroups-nakack2": "JGroups promises no virtual synchrony any more: survivors may deliver different messages of the member that is gone.",
}
EVER = ("A ratio above 1 is better, whatever the figure; it is taken against the best other of the same round. A failed run, and a figure that ours lacks, count as the worst, ratio 0. "
        "*noisy*: others had more than a tenth of the machine at every try. *restarted*: starts that failed, before all members had formed as far as their harness tells, and were tried again. *off rate*: what was reached as a share of the rate asked for.")


def notes(suite, systems):
    return [EVER, *SUITES.get(suite, []), *(text for system, text in SYSTEMS.items() if system in systems)]
