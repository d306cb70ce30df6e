"""Runs of a row by all systems, round by round."""
import json
import os
import shutil
from pathlib import Path

from .commands import Failed, NeverBegan, run_json
from .comparing import order
from .holding import hold
from .judging import is_noisy, is_off, number, others, reached, wrong
from .printing import show
from .probes import PROBES, Probe
from .systems import NEEDS, base, is_ours
from .warming import WarmUps

ROOT = Path(__file__).resolve().parents[3]
MACRO = ROOT / "perf/macro"
MACRO_DLL = MACRO / "bin/Release/net10.0/Ida.Perf.Macro.dll"


class Runner:
    def __init__(self, options):
        self.options = options
        self.peers = Path(options.peers) / "run"
        self.failures = 0
        self.warmups = WarmUps(options.warmup, options.warmups)
        self._probes, self._lacking = {}, {}

    def others(self, row):
        systems = [*row.systems, *([row.limit] if row.limit else [])]
        return [s for s in systems if (self.probe(s) if s in PROBES else self.has(base(s)))]

    def has(self, name):
        """Whether a system can run here; what it lacks is said once."""
        if name not in self._lacking:
            lacking = [] if os.access(self.peers, os.X_OK) else [f"peer harness at {self.options.peers}"]
            self._lacking[name] = lacking + [f"{needed} on this machine" for needed in ["java", "javac", *NEEDS.get(name, [])] if not shutil.which(needed)]
            if self._lacking[name]:
                print(f"# without {name}: there is no {', no '.join(self._lacking[name])}", flush=True)
        return not self._lacking[name]

    def probe(self, name):
        if name not in self._probes:
            source = Path(self.options.probes or Path(self.options.peers).parent / "probes") / name
            self._probes[name] = Probe(source) if (source / f"{name}.csproj").exists() else None
            if self._probes[name] is None:
                print(f"# without {name}: there is no such probe at {source}", flush=True)
        return self._probes[name]

    def execute(self, row, system, warmup, instead=None):
        """One run; what it got wrong makes it fail."""
        if system in PROBES:
            return self.probe(system).measure(row, self.options.seconds)
        given = {"--seconds": str(self.options.seconds), "--warmup": str(warmup)}
        if is_ours(system):
            result = run_json(["dotnet", str(MACRO_DLL), *row.command(system, given, instead)])
        else:
            def peer(instead, bench=None):
                bench, *words = row.command(system, given, instead, bench)
                return [str(self.peers), bench, "--system", base(system), *words]
            result = hold(lambda more: peer(more, "kv")) if row.bench == "memory" else run_json(peer(instead))
        if found := wrong(result):
            raise Failed("; ".join(found))
        return {**result, "rate_reached": reached(row.rate(system), result)}

    def quiet(self, row, system, warmup, instead=None):
        """A run whose members formed and during which other processes used little of the machine. If there is none after the last try, the best of them, marked."""
        tries, began_not = [], []
        while len(tries) + len(began_not) <= self.options.repeats:
            try:
                tries.append({**self.execute(row, system, warmup, instead), "began_not": len(began_not)})
            except NeverBegan as failure:
                began_not.append(failure)
                print(f"# {row.name}, {system}: never began: {failure}", flush=True)
                self.keep({"row": row.name, "as": system, "set_aside": True, "error": str(failure)})
                continue
            if not is_noisy(tries[-1]):
                return tries[-1]
            print(f"# {row.name}, {system}: others had {tries[-1]['cpu_others_share']} of the machine", flush=True)
            self.keep({"row": row.name, "as": system, "set_aside": True, **tries[-1]})
        if not tries:
            raise began_not[-1]
        return {**min(tries, key=others), "noisy": True, "began_not": len(began_not)}

    def row(self, suite, row):
        """Results by system, a list with one per round (None: failed)."""
        systems = [*self.others(row), *row.ways]
        results = {system: [] for system in systems}
        for round_number in range(self.options.rounds):
            for system in order(systems, round_number):
                results[system].append(self.once(suite, row, round_number + 1, system))
        return results

    def once(self, suite, row, round_number, system):
        where = f"# {suite} {row.name}, round {round_number}, {system}"
        about = {"suite": suite, "row": row.name, "round": round_number, "as": system}
        try:
            warmup, warm = (0, True) if system in PROBES else self.warmups.of(row, system, lambda seconds: self.quiet(row, system, seconds, row.search))
            result = {**self.quiet(row, system, warmup), "warm": warm}
        except Failed as failure:
            self.failures += 1
            print(f"{where}: FAILED: {failure}", flush=True)
            self.keep({**about, "error": str(failure)})
            return None
        first = row.metrics[0]
        value = show(number(result.get(first.field if is_ours(system) else first.theirs)))
        off = f", NOT THE RATE ASKED FOR: {result['rate_reached']:.2f} of it" if is_off(result.get("rate_reached")) else ""
        print(f"{where}: {value} {first.unit}, others {result.get('cpu_others_share', '?')}{off}", flush=True)
        self.keep({**about, **result})
        return result

    def keep(self, result):
        if self.options.out:
            with open(self.options.out, "a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")

    def close(self):
        for probe in self._probes.values():
            if probe:
                probe.close()
