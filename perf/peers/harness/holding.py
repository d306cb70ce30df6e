"""What entries cost in the other systems: resident memory after a full collection, with all entries and with a thousand; macro does the same for this one."""
import subprocess
import time

from .commands import Failed, run_json
from .rows import options
from .usage import SERVER, below, resident, spent

FEW = 1000
# Hardly any load; a heap that gives back what a collection frees; time for one or two readings after filling.
QUIET = options("--mix get --threads 1 --rate 1 --warmup 0 --seconds 20 --grace 600")
SHRINKING = "-Xms16m -XX:MinHeapFreeRatio=5 -XX:MaxHeapFreeRatio=10"


class Collected:
    """
    Asks every JVM for a full collection and then looks what is held, again and again; what counts is the last look in the window at which all was there from its begin to its end.
    It asks those that were there the time before, since a JVM that just begins would end of it, and only while they have little to do, so that the filling is not held up.
    """
    every = 2
    IDLE = 0.5

    def __init__(self):
        self.looks, self._before = [], ({}, 0.0, 0.0)

    def __call__(self, root):
        began, before = time.monotonic(), below(root)
        processes, at, used = self._before
        self._before = before, began, spent(before)
        if before != processes or self._before[2] - used > self.IDLE * (began - at):
            return
        servers = {pid: name for pid, name in before.items() if name == SERVER}
        for pid in [] if servers else before:
            if subprocess.run(["jcmd", str(pid), "GC.run"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
                return
        held = resident(before)[0]
        if before and below(root) == before:
            self.looks.append((began, held))
        self._before = before, time.monotonic(), spent(before)

    def last(self, seconds):
        """Of those that began in the window, which came last."""
        after = time.monotonic() - seconds
        held = [held for began, held in self.looks if began >= after]
        if not held:
            raise Failed("no look at its memory in the window")
        return held[-1]


def hold(command):
    """The fields of macro's memory run; `command` makes one of the peer harness, to which its options are given."""
    held = {}
    for keys in (FEW, None):
        look = Collected()
        result = run_json(command({**QUIET, "--jvm": SHRINKING, **({"--keyspace": str(keys)} if keys else {})}), look)
        held[result["keyspace"]] = look.last(int(QUIET["--seconds"]))
    few, many = held
    return {**{name: result[name] for name in ("system", "version", "nodes", "backups", "value", "keyspace", "errors")}, "bench": "memory", "warmup": 0,
            "resident_mb_few": round(held[few] / 1e6, 1), "resident_mb": round(held[many] / 1e6, 1), "bytes_per_entry": round((held[many] - held[few]) / (many - few))}
