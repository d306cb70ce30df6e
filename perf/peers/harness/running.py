"""Runs of a row by all systems, round by round."""
import json
import os
from pathlib import Path

from .commands import Failed, run_json
from .comparing import figure, is_ours, order, sufficient
from .printing import show
from .probes import PROBES, Probe
from .rows import HARNESS, OURS_BY

ROOT = Path(__file__).resolve().parents[3]
MACRO = ROOT / "perf/macro"
MACRO_DLL = MACRO / "bin/Release/net10.0/Ida.Perf.Macro.dll"


class Runner:
    def __init__(self, options):
        self.options = options
        self.peers = Path(options.peers) / "run"
        self.has_peers = os.access(self.peers, os.X_OK)
        self.probes = {}
        self.failures = 0
        self.warmups = {}
        if options.warmups and Path(options.warmups).exists():
            self.warmups = json.loads(Path(options.warmups).read_text(encoding="utf-8"))
        if not self.has_peers:
            print(f"# no peer harness at {options.peers}: this system runs alone", flush=True)

    def others(self, row):
        systems = [s for s in row.systems if s in PROBES or self.has_peers]
        if row.limit:
            systems.append(row.limit)
        return [s for s in systems if s not in PROBES or self.probe(s)]

    def probe(self, name):
        if name not in self.probes:
            source = Path(self.options.probes or Path(self.options.peers).parent / "probes") / name
            self.probes[name] = Probe(source) if (source / f"{name}.csproj").exists() else None
            if self.probes[name] is None:
                print(f"# no probe at {source}: this system runs without it", flush=True)
        return self.probes[name]

    def execute(self, row, system, warmup):
        if system in PROBES:
            return self.probe(system).measure(row, self.options.seconds)
        words = row.words.split()
        if "--seconds" not in words:
            words += ["--seconds", str(self.options.seconds)]
        words += ["--warmup", str(warmup)]
        if is_ours(system):
            return run_json(["dotnet", str(MACRO_DLL), *words, *OURS_BY[system], *row.ours.split()])
        name, more = HARNESS.get(system, (system, []))
        return run_json([str(self.peers), words[0], "--system", name, *words[1:], *more, *row.theirs.split()])

    def warmup(self, suite, row, system):
        """(seconds, whether flat there): as given, or found once for this row and system and kept in a file."""
        if self.options.warmup is not None or system in PROBES:
            return self.options.warmup or 0, True
        key = f"{suite} {row.name} {system}"
        if key not in self.warmups:
            first = row.metrics[0]
            # Nothing of the first figure of a failover or latency row tells whether the code is compiled; its rate before the fault, or processor time, does.
            field = {"failover": "ops_per_s_before", "latency": "cpu_us_per_delivery"}.get(suite, first.field)

            def measure(seconds):
                value = figure(first, self.execute(row, system, seconds), field)
                if value is None:
                    raise Failed(f"no {field}")
                return value

            self.warmups[key] = sufficient(measure)
            print(f"# {key}: warm-up {self.warmups[key][0]} s, {'flat' if self.warmups[key][1] else 'NOT FLAT'}", flush=True)
            if self.options.warmups:
                Path(self.options.warmups).write_text(json.dumps(self.warmups, indent=1) + "\n", encoding="utf-8")
        return self.warmups[key]

    def row(self, suite, row):
        """Results by system, a list with one per round (None: failed)."""
        systems = [*self.others(row), *row.ways]
        results = {system: [] for system in systems}
        for number in range(self.options.rounds):
            for system in order(systems, number):
                results[system].append(self.once(suite, row, number + 1, system))
        return results

    def once(self, suite, row, number, system):
        where = f"# {suite} {row.name}, round {number}, {system}"
        try:
            warmup, warm = self.warmup(suite, row, system)
            result = {**self.execute(row, system, warmup), "warm": warm}
        except Failed as failure:
            self.failures += 1
            print(f"{where}: FAILED: {failure}", flush=True)
            self.keep({"suite": suite, "row": row.name, "round": number, "system": system, "error": str(failure)})
            return None
        first = row.metrics[0]
        value = result.get(first.field if is_ours(system) else first.theirs)
        print(f"{where}: {show(value)} {first.unit}, others {result.get('cpu_others_share', '?')}", flush=True)
        self.keep({"suite": suite, "row": row.name, "round": number, "as": system, **result})
        return result

    def keep(self, result):
        if self.options.out:
            with open(self.options.out, "a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")

    def close(self):
        for probe in self.probes.values():
            if probe:
                probe.close()
