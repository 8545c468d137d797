"""Which tests a run without `--thorough` leaves out, and how many examples it draws.

The thorough run takes every case of every test and every draw. The default run gives each test function an allowance of seconds.
`durations.txt` holds the seconds that all cases of a function take together in the thorough run, for functions that exceed the
allowance, and those of its slow cases. Such a function runs as many cases as its allowance pays for, and at least one:

* The cases are chosen by a hash of their names: every run and every machine takes the same ones, and a new case changes little.
* A property that draws examples (hypothesis) runs with fewer examples, which are the same ones in every run.
* A function all of whose cases take more than `LONGEST` seconds is left to the thorough run.

A new test needs no entry and runs completely. Three marks, on a test or on a whole module, say something else:

* `pytest.mark.allowance(30)`: the seconds of each of these functions, for tests that are worth more, or less, than others.
* `pytest.mark.thorough`: only in the thorough run.
* `pytest.mark.always`, best on single cases with `pytest.param`: in every run.

`--thorough --within 60` begins with what the default run leaves out or draws less often, and skips what has not begun after 60
minutes: a machine that is slow or shared ends in time, and the summary says how much was skipped.

Tests that are chosen on the command line, as `file::test`, by `-k`, `-m`, `--lf`, `--ff` or `--sw`, all run, with every draw.
`python3 dev.py test --thorough --keep-durations` measures the functions that it runs, and writes their rows in that file anew.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import hypothesis
import pytest

ALLOWANCE = 0.2   # seconds for all cases of a test function
ALLOWANCES = {"tests/interval/": 1.0}  # the same of folders: every proof rests on the arithmetic of intervals
LONGEST = 1.2     # seconds of a case that the default run still takes where no cheaper one is left
SLOW_CASE = 1.0   # seconds of a case that has a row of its own
FEWEST_DRAWS = 4
_CHOOSING = ("keyword", "markexpr", "lf", "failedfirst", "stepwise")  # -k, -m, --lf, --ff and --sw; plugins may be off
DURATIONS = Path(__file__).with_name("durations.txt")
HEADER = "# seconds that test functions, and their slow cases, take of a processor in the thorough run: see selection.py\n"
_DRAWS = "_hypothesis_internal_use_settings"  # where hypothesis keeps the settings of a test


def function_of(name: str) -> str:
    """The test function of a case: its name without parameters."""
    return name.partition("[")[0]


def read(path: Path = DURATIONS) -> dict[str, float]:
    """Seconds by the name of a test function or of a slow case."""
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {name: float(seconds) for seconds, _, name in (row.partition(" ") for row in rows if not row.startswith("#"))}


def write(cases: Mapping[str, float], path: Path = DURATIONS) -> None:
    """Replaces the rows of the functions whose cases were measured, and drops those of files that are gone."""
    totals: dict[str, float] = defaultdict(float)
    for name, seconds in cases.items():
        totals[function_of(name)] += seconds
    root = Path(__file__).parent.parent
    rows = {name: s for name, s in read(path).items()
            if function_of(name) not in totals and (root / name.partition("::")[0]).exists()}
    rows |= {function: s for function, s in totals.items() if s > ALLOWANCE}
    rows |= {name: s for name, s in cases.items() if s > SLOW_CASE and "[" in name}
    path.write_text(HEADER + "".join(f"{rows[name]:.1f} {name}\n" for name in sorted(rows)), encoding="utf-8")


def everything(config: pytest.Config) -> bool:
    """Does this run take every case and every draw? Tests that are named do."""
    named = any(config.getoption(name, False) for name in _CHOOSING) or any("::" in arg for arg in config.args)
    return bool(config.getoption("thorough") or named)


def costs(names: list[str], seconds: Mapping[str, float]) -> dict[str, float]:
    """The seconds of each case of a function: its row, or its part of what is left of the function's."""
    own = {name: seconds[name] for name in names if "[" in name and name in seconds}
    left = seconds.get(function_of(names[0]), 0.0) - sum(own.values())
    return {name: own.get(name, max(0.0, left) / max(1, len(names) - len(own))) for name in names}


def affordable(cost: Mapping[str, float], allowance: float) -> set[str]:
    """The cases that an allowance pays for, in the order of a hash of their names; the cheapest one if it pays for none."""
    found, spent = set(), 0.0
    for name in sorted(cost, key=lambda name: hashlib.blake2b(name.encode()).digest()):
        if spent + cost[name] <= allowance:
            found.add(name)
            spent += cost[name]
    cheapest = min(cost, key=cost.__getitem__)
    return found or ({cheapest} if cost[cheapest] <= max(LONGEST, allowance) else set())


def kept(items: Sequence[pytest.Item], seconds: Mapping[str, float]) -> dict[pytest.Item, int | None]:
    """The cases that the default run takes, with the number of their draws where it is reduced."""
    functions: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        functions[function_of(item.nodeid)].append(item)
    found = {item: few for cases in functions.values() for item, few in _kept_cases(cases, seconds)}
    return {item: found.get(item) for item in items if item.get_closest_marker("always")
            or (item in found and not item.get_closest_marker("thorough"))}


def reduce_draws(items: Mapping[pytest.Item, int | None]) -> None:
    """Each of these properties draws this number of examples from here on, where there is one."""
    for item, few in items.items():
        if few is not None:
            setattr(item.obj, _DRAWS, hypothesis.settings(getattr(item.obj, _DRAWS), max_examples=few))


def left_out_first(items: Sequence[pytest.Item], seconds: Mapping[str, float]) -> list[pytest.Item]:
    """The same cases: first those that the default run leaves out, or tries with fewer draws."""
    default = kept(items, seconds)
    return sorted(items, key=lambda item: item in default and default[item] is None)


def _kept_cases(cases: list[pytest.Item], seconds: Mapping[str, float]) -> list[tuple[pytest.Item, int | None]]:
    """The cases of one function that the default run takes but for marks of single cases, with their reduced number of draws."""
    mark = cases[0].get_closest_marker("allowance")
    of_folder = next((seconds for folder, seconds in ALLOWANCES.items() if cases[0].nodeid.startswith(folder)), ALLOWANCE)
    allowance = mark.args[0] if mark else of_folder
    cost = costs([item.nodeid for item in cases], seconds)
    few, draws = None, getattr(getattr(cases[0], "obj", None), _DRAWS, None)
    if draws is not None and sum(cost.values()) > allowance:
        share = max(allowance / sum(cost.values()), FEWEST_DRAWS / draws.max_examples)
        if share < 1:
            few = math.ceil(share * draws.max_examples)
            cost = {name: share * s for name, s in cost.items()}
    names = affordable(cost, allowance)
    return [(item, few) for item in cases if item.nodeid in names]
