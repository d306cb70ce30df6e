"""What the processes that a command started hold in memory, read from /proc from outside, alike for every system."""
import os
import threading
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE")


def parent(stat):
    """The parent in a line of /proc/N/stat, whose name may hold anything."""
    return int(stat[stat.rindex(")") + 1:].split()[1])


def descendants(root, parents):
    """Of the processes (number to parent's number) those below the root, without it."""
    found, looked = set(), {root}
    while looked:
        looked = {pid for pid, above in parents.items() if above in looked} - found
        found |= looked
    return found


def resident(root):
    """Bytes resident of all processes below the root; shared pages count in each."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            parents[int(name)] = parent(Path(f"/proc/{name}/stat").read_text(errors="replace"))
        except (OSError, ValueError):
            continue
    total = 0
    for pid in descendants(root, parents):
        try:
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
        except (OSError, IndexError):
            continue
    return total


class Watch:
    """Looks twice a second until it is closed."""

    def __init__(self, root):
        self.peak, self._root, self._over = 0, root, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self):
        while not self._over.wait(0.5):
            self.peak = max(self.peak, resident(self._root))

    def close(self):
        self._over.set()
        self._thread.join()
