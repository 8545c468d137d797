"""The results of the kept benches at two commits, in one table: rows, equal work, times, and what holds no more.

    python bench/kept_results.py --before COMMIT [--pattern GLOB]

Compares `bench/results/GLOB` as it was at COMMIT with the files as they are. Work is what a row says of verdict and counts. Times
are rows in seconds; their ratio is after / before, which means something where both were measured under the same conditions.
"""

import argparse
import math
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^(.{58}) +([0-9.e+-]+) (\S+) +(.*)$")
COUNTED = re.compile(r"PROVED|STOPPED|INFEASIBLE|UNDECIDED|[0-9,]+ (?:boxes|enclosed|evaluations|steps|trials|linear programs)")
MUCH, SHORT = 1.15, 0.05  # a slower row is named beyond this ratio and these seconds


class Figure(NamedTuple):
    """Of a row of a table."""

    value: float
    unit: str
    rest: str

    @property
    def work(self) -> list[str]:
        return COUNTED.findall(self.rest)

    @property
    def holds(self) -> bool | None:
        found = re.search(r"\b(yes|NO)\b", self.rest)
        return None if found is None else found[1] == "yes"


def figures(text: str) -> dict[tuple[str, str], Figure]:
    """By the title of the table and what the row is about."""
    found, title = {}, ""
    for line in text.splitlines():
        row = ROW.match(line)
        if row is not None:
            found[title, row[1].strip()] = Figure(float(row[2]), row[3], row[4])
        elif line and not line.startswith(("what ", " ")):
            title = line
    return found


def compared(before: dict[tuple[str, str], Figure], after: dict[tuple[str, str], Figure]) -> tuple[str, list[float]]:
    """A line on the rows of a file that are in both versions, more on single rows, and the ratios of times."""
    both = [key for key in after if key in before]
    same = sum(before[key].work == after[key].work for key in both)
    times = {key[1]: (before[key].value, after[key].value) for key in both
             if before[key].unit == after[key].unit == "s" and min(before[key].value, after[key].value) > 0}
    ratios = [new / old for old, new in times.values()]
    lines = [f"{len(both):>5} {same:>10} {len(ratios):>6} {mean(ratios):>7.3f}"]
    for words, was in (("holds no more", True), ("holds now", False)):
        lines += [f"      {words}: {key[1]}" for key in both if before[key].holds is was and after[key].holds is (not was)]
    lines += [f"      other work: {key[1]}: {', '.join(before[key].work)} -> {', '.join(after[key].work)}" for key in both
              if before[key].work != after[key].work]
    lines += [f"      slower: {name}: {old:.3g} s -> {new:.3g} s" for name, (old, new) in times.items()
              if new > MUCH * old and new - old > SHORT]
    return "\n".join(lines), ratios


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(math.fsum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="COMMIT", required=True)
    parser.add_argument("--pattern", metavar="GLOB", default="*.txt")
    asked = parser.parse_args()
    print(f"before: {asked.before}\n{'file':<48} {'rows':>5} {'equal work':>10} {'times':>6} {'ratio':>7}")
    together: list[float] = []
    for path in sorted((ROOT / "bench" / "results").glob(asked.pattern)):
        name = f"{asked.before}:bench/results/{path.name}"
        known = subprocess.run(["git", "show", name], cwd=ROOT, capture_output=True, text=True)
        before, after = figures(known.stdout), figures(path.read_text(encoding="utf-8"))
        if known.returncode == 0 and before.keys() & after.keys():
            line, ratios = compared(before, after)
            together += ratios
            print(f"{path.name:<48} {line}")
    print(f"{'geometric mean of all times':<48} {'':>5} {'':>10} {len(together):>6} {mean(together):>7.3f}")


if __name__ == "__main__":
    main()
