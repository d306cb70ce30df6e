"""A workload: the words for both harnesses, the figures to compare, and the systems that take part."""
import shlex

from .systems import VARIANTS, WAYS, base, is_ours


class Metric:
    """One figure of a row: its field, whether more is better, and the least ratio (ours to the best other, turned so that above 1 is better) aimed at."""

    def __init__(self, field, unit, more, target=None, theirs=None):
        self.field, self.unit, self.more, self.target, self.theirs = field, unit, more, target, theirs or field


def options(words):
    """"--name value" pairs."""
    words = shlex.split(words)
    return dict(zip(words[::2], words[1::2]))


def flat(pairs):
    return [word for pair in pairs.items() for word in pair]


class Row:
    """
    One workload: a command and its words, and more words for single systems ("" in `more`: for all others). `limit` is the probe that shows what the machine can do at most,
    `aside` runs but is not compared, `judge` the figure that tells whether a warm-up suffices (None: none does, the harnesses' default holds), `search` more words for that, `key` its name, which rows may share.
    """

    def __init__(self, name, words, metrics, systems, more=None, ways=("ida",), limit=None, half=False, aside=(), judge="", key=None, search=""):
        self.name, self.metrics, self.systems, self.ways, self.limit, self.half = name, metrics, systems, ways, limit, half
        self.aside = {limit, *aside}
        self.bench, _, words = words.partition(" ")
        self.words, self.more = options(words), more or {}
        self.judge = metrics[0].field if judge == "" else judge
        self.key, self.search = key or name, options(search)
        self.rates = {}

    def __getitem__(self, option):
        return self.words[option]

    def command(self, system, given, instead=None, bench=None):
        """The words for a system: those given where the row has none, and those to stand in place of the row's."""
        variant = WAYS[system] if is_ours(system) else VARIANTS.get(system, ("", ""))[1]
        more = self.more.get(base(system), "" if is_ours(system) else self.more.get("", ""))
        rate = {"--rate": str(self.rates[system])} if system in self.rates else {}
        return [bench or self.bench, *flat({**given, **self.words, **options(more), **options(variant), **rate, **(instead or {})})]

    def rate(self, system):
        """What is asked for per second and node, or nothing."""
        return self.rates.get(system) or int(self.words.get("--rate", 0))

    def at(self, rates, name):
        """The same by those systems at those rates, operations per second and node; that it reaches the rate is no merit."""
        row = Row(f"{self.name}, {name}", self.bench, [m for m in self.metrics if m.field != "ops_per_s"], [s for s in self.systems if s in rates],
                  self.more, [w for w in self.ways if w in rates], judge="cpu_us_per_op", key=f"{self.key} at a rate")
        row.words, row.rates = self.words, rates
        return row

    @property
    def within(self):
        """Seconds that a failover looks on after the fault, as both harnesses do."""
        seconds = int(self.words["--seconds"]) if self.bench == "failover" else 0
        return seconds - max(5, seconds // 4) if seconds else None
