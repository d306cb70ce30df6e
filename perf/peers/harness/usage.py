"""What the processes that a command started hold in memory, read from /proc from outside, alike for every system."""
import os
import threading
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
SERVER = "redis-server"


def parent(stat):
    """The parent in a line of /proc/N/stat, whose name may hold anything."""
    return int(stat[stat.rindex(")") + 1:].split()[1])


def ticks_of(stat):
    """User and system time in such a line."""
    return sum(map(int, stat[stat.rindex(")") + 1:].split()[11:13]))


def descendants(root, parents):
    """Of the processes (number to parent's number) those below the root, without it."""
    found, looked = set(), {root}
    while looked:
        looked = {pid for pid, above in parents.items() if above in looked} - found
        found |= looked
    return found


def below(root):
    """{number: name} of the processes below the root."""
    stats = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            stats[int(name)] = Path(f"/proc/{name}/stat").read_text(errors="replace")
        except OSError:
            continue
    return {pid: stats[pid][stats[pid].index("(") + 1:stats[pid].rindex(")")] for pid in descendants(root, {pid: parent(stat) for pid, stat in stats.items()})}


def spent(processes):
    """Seconds of processor time so far."""
    ticks = 0
    for pid in processes:
        try:
            ticks += ticks_of(Path(f"/proc/{pid}/stat").read_text(errors="replace"))
        except (OSError, ValueError):
            continue
    return ticks / TICKS


def resident(processes):
    """(bytes of the system, bytes of its clients where those are processes of their own); shared pages count in each process."""
    apart = SERVER in processes.values()
    system = clients = 0
    for pid, name in processes.items():
        try:
            held = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        except (OSError, IndexError):
            continue
        if apart and name != SERVER:
            clients += held
        else:
            system += held
    return system, clients


class Peak:
    """The largest memory at any look, of the system and of its clients."""
    every = 0.5

    def __init__(self):
        self.system = self.clients = 0

    def __call__(self, root):
        system, clients = resident(below(root))
        self.system, self.clients = max(self.system, system), max(self.clients, clients)


class Watch:
    """Looks again and again until it is closed."""

    def __init__(self, root, look):
        self._root, self._look, self._over = root, look, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        while not self._over.wait(self._look.every):
            self._look(self._root)

    def close(self):
        self._over.set()
        self._thread.join()
