"""Programs without a protocol that show what this machine can do."""
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .commands import Failed, run

PROBES = ["rtt", "mesh"]
PORT = str(20_000 + os.getpid() % 10_000)


class Probe:
    """A program without a protocol that shows what this machine can do: rtt, a bare reactor on one socket; mesh, all to all with a window."""

    def __init__(self, source):
        self.name = source.name
        self.directory = Path(tempfile.mkdtemp(prefix="perf-probe-"))
        for name in (f"{self.name}.csproj", "Program.cs"):
            shutil.copy(source / name, self.directory)
        code, out, err = run(["dotnet", "build", str(self.directory / f"{self.name}.csproj"), "-c", "Release", "-o", str(self.directory / "bin"), "--nologo", "-v", "q"])
        if code != 0:
            raise Failed(f"the probe does not build: {(out + err)[:300]}")

    def measure(self, row, seconds):
        return self.round_trip() if self.name == "rtt" else self.mesh(int(row["--members"]), int(row["--size"]), seconds)

    def run(self, others, last, environment=None):
        """Output of the last one; the others run beside it."""
        program = str(self.directory / "bin" / self.name)
        started = [subprocess.Popen([program, *words], env={**os.environ, **(environment or {})}, stdout=subprocess.DEVNULL) for words in others]
        try:
            code, out, err = run([program, *last], environment)
        finally:
            for process in started:
                process.kill()
                process.wait()
        if code != 0:
            raise Failed(f"the probe failed: {err[:300]}")
        return out

    def round_trip(self):
        out = self.run([["server", "epoll", PORT]], ["client", "epoll", PORT], {"SPIN": "50", "YIELD": "1"})
        # The first line warms up.
        alone = [m for m in map(re.compile(r"  1 in flight:.*p50\s+([\d.]+)\s+p99\s+([\d.]+)").search, out.splitlines()) if m]
        if len(alone) < 2:
            raise Failed(f"the probe said: {out[:300]}")
        return {"bench": "p2p", "system": self.name, "p50_us": float(alone[1][1]), "p99_us": float(alone[1][2])}

    def mesh(self, members, size, seconds):
        words = [[str(i), str(members), PORT, str(size), str(seconds)] for i in range(members)]
        out = self.run(words[1:], words[0])
        said = re.search(r"member 0: ([\d,]+) deliveries/s .* cpu ([\d.]+) us", out)
        if not said:
            raise Failed(f"the probe said: {out[:300]}")
        return {"bench": "multicast", "system": self.name, "delivered_per_s_member_median": int(said[1].replace(",", "")), "cpu_us_per_delivery": float(said[2])}

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)
