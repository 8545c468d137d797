"""The index method on random test functions with known minimisers: trials until one is near the minimiser.

    python -m bench.index --vectors FOLDER [--only PART ...] [--classes CLASS ...] [--sample COUNT] [--processes COUNT]
                          [--variables N ...] [--r R ...] [--trials COUNT] [--json FILE]

Parts:
  published  the method as published, r as in its own code's measurements, one trial at a time: means to within 1 % of that code's
  default    one default for all classes: means, and trials until the last function is solved, beside the best published
  drawn      the default on new functions of the GKLS classes, drawn with --seed: solved, and means beside those of the vectors
  constrained
             the default, and the method as published with some r, on random constrained problems with known minimisers: trials
             until a feasible one is near the minimiser, evaluations of each constraint and of the objective
  overhead   milliseconds of the processor that a trial costs beside its function, at 100,000 trials: by asking and telling,
             and by the whole call, without and with constraints
Exit status 1: something that was wanted does not hold.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):   # before NumPy: every process has one thread
    os.environ.setdefault(_name, "1")
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
import numpy as np  # noqa: E402

import infimum  # noqa: E402
from bench.black_boxes import CLASSES, GKLS, BlackBox, drawn, from_vectors  # noqa: E402
from bench.constrained_boxes import CONSTRAINED, ConstrainedBox, constrained  # noqa: E402
from bench.table import exit_code, head, report, timed, write_json  # noqa: E402
from infimum.engines.index.index_method import IndexMethod, MethodOptions  # noqa: E402
from infimum.engines.index.index_search import IndexSearch, SearchOptions  # noqa: E402
from infimum.engines.index.trial_values import TrialOutcome  # noqa: E402

# r, and the mean number of trials of the group's own code
PUBLISHED = {"grishagin": (3.0, 193.0), "2-simple": (4.6, 254.9), "2-hard": (6.5, 728.7), "3-simple": (3.7, 1372.1),
             "3-hard": (4.4, 3636.1)}
# the best published: mean number of trials, and until the last function is solved
BEST = {"grishagin": (158, 596), "2-simple": (189, 652), "2-hard": (488, 1501), "3-simple": (974, 4126), "3-hard": (2299, 15068),
        "4-simple": (7824, 38097), "4-hard": (23168, 74473), "5-simple": (7166, 66583), "5-hard": (66327, 491175)}
CONSTRAINED_MOST = {2: 3_000, 3: 10_000, 4: 20_000, 5: 40_000}   # trials after which a constrained problem is given up
TABLE: list[dict[str, Any]] = []


def trials_to_solve(make: Callable[[int], Any], most: int, problem: BlackBox) -> int:
    """How many trials until one is near the minimiser; more than `most` if none is."""
    search = make(len(problem.minimiser))
    for number in range(1, most + 1):
        asked = search.ask()
        if not asked:
            break
        x = problem.at(asked[0].point)
        if problem.solved(x):
            return number
        search.tell(asked[0].number, TrialOutcome((problem.fun(x),)))
    return most + 1


def evaluations_to_solve(search: IndexMethod, most: int, problem: ConstrainedBox) -> tuple[int, tuple[int, ...]]:
    """How many trials until a feasible one is near the minimiser, more than `most` if none is; and how often each constraint and
    then the objective were computed."""
    number = 0
    while number < most and (asked := search.ask()):
        number += 1
        x = problem.at(asked[0].point)
        told = TrialOutcome(problem.values(x))
        search.tell(asked[0].number, told)
        if told.index == len(problem.constraints) and problem.solved(x):
            return number, search.finish().evaluations
    return most + 1, search.finish().evaluations


def published_method(name: str, n: int) -> IndexMethod:
    return IndexMethod(n, options=MethodOptions(r=PUBLISHED[name][0]))


def default_search(n: int) -> IndexSearch:
    return IndexSearch(n, options=SearchOptions())


def _of_vectors(job: tuple) -> int:
    """One function of the vectors, in a process that reads them once."""
    folder, name, number, make, most = job
    return trials_to_solve(make, most, _class(folder, name)[number])


def _of_drawn(job: tuple) -> int:
    name, number, count, seed, make, most = job
    return trials_to_solve(make, most, _drawn(name, count, seed)[number])


def _of_constrained(job: tuple) -> tuple[int, tuple[int, ...]]:
    kind, n, number, seed, r, most = job
    problem = constrained(kind, n, number, seed)
    count = len(problem.constraints)
    search = IndexMethod(n, count, MethodOptions(r=r)) if r else IndexSearch(n, count, SearchOptions())
    return evaluations_to_solve(search, most, problem)


_KEPT: dict[Any, list[BlackBox]] = {}


def _class(folder: Path, name: str) -> list[BlackBox]:
    if name not in _KEPT:
        _KEPT[name] = from_vectors(folder, name)
    return _KEPT[name]


def _drawn(name: str, count: int, seed: int) -> list[BlackBox]:
    if (name, count, seed) not in _KEPT:
        _KEPT[name, count, seed] = drawn(name, count, seed)
    return _KEPT[name, count, seed]


def in_parallel(work: Callable[[tuple], Any], jobs: list[tuple], processes: int) -> list[Any]:
    """The jobs, in order."""
    if processes == 1:
        return [work(job) for job in jobs]
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(work, jobs, chunksize=1))


def row(part: str, name: str, counts: list[int], most: int, seconds: float, **more: Any) -> dict[str, Any]:
    TABLE.append({"part": part, "class": name, "mean": float(np.mean(counts)), "last": max(counts),
                  "solved": sum(c <= most for c in counts), "of": len(counts), "seconds": seconds, "counts": counts, **more})
    return TABLE[-1]


def _published(options: argparse.Namespace) -> None:
    head("The method as published: mean trials until one is within 0.01 of the width in every coordinate")
    for name in chosen(options, PUBLISHED):
        r, wanted = PUBLISHED[name]
        most = 100_000
        jobs = [(options.vectors, name, k, partial(published_method, name), most) for k in range(options.sample)]
        seconds, counts = timed(lambda jobs=jobs: in_parallel(_of_vectors, jobs, options.processes))
        it = row("published", name, counts, most, seconds, r=r)
        report(f"{name}, r = {r:g}", it["mean"], "trials", f"{wanted:g} +- 1 %", abs(it["mean"] / wanted - 1) <= 0.01,
               f"{it['solved']} of {it['of']}, last {it['last']}, {seconds / sum(counts) * 1e3:.2f} ms a trial")


def _default(options: argparse.Namespace) -> None:
    head("One default: mean trials, and until the last is solved, beside the best published")
    for name in chosen(options, CLASSES):
        mean, last = BEST[name]
        most = options.most or 4 * last
        jobs = [(options.vectors, name, k, default_search, most) for k in range(options.sample)]
        seconds, counts = timed(lambda jobs=jobs, most=most: in_parallel(_of_vectors, jobs, options.processes))
        it = row("default", name, counts, most, seconds)
        report(f"{name}, mean", it["mean"], "trials", f"<= {mean}", it["mean"] <= mean,
               f"{it['solved']} of {it['of']}, {seconds / sum(counts) * 1e3:.2f} ms a trial")
        report(f"{name}, last", it["last"], "trials", f"<= {last}", it["last"] <= last and it["solved"] == it["of"])


def _drawn_part(options: argparse.Namespace) -> None:
    head(f"The default on new functions, drawn with seed {options.seed}")
    for name in chosen(options, GKLS):
        count = min(1000 if int(name[0]) <= 3 else 200, options.sample if options.sample < 100 else 1000)
        most = options.most or 4 * BEST[name][1]
        jobs = [(name, k, count, options.seed, default_search, most) for k in range(count)]
        seconds, counts = timed(lambda jobs=jobs: in_parallel(_of_drawn, jobs, options.processes))
        it = row("drawn", name, counts, most, seconds, seed=options.seed)
        known = next((r["mean"] for r in TABLE if r["part"] == "default" and r["class"] == name), None)
        report(f"{name}, {count} new, solved", it["solved"], f"of {count}", ">= 99 %", it["solved"] >= 0.99 * count,
               f"last {it['last']}")
        report(f"{name}, {count} new, mean", it["mean"], "trials", f"{known:.4g} +- 20 %" if known else "",
               abs(it["mean"] / known - 1) <= 0.2 if known else None)


def _constrained_part(options: argparse.Namespace) -> None:
    head(f"Constrained problems, drawn with seed {options.seed}: trials until a feasible one is near the minimiser")
    for kind, n in ((kind, n) for n in options.variables for kind in CONSTRAINED):
        means: list[float] = []
        for r in (None, *options.r):
            most = options.most or CONSTRAINED_MOST[n]
            jobs = [(kind, n, k, options.seed, r, most) for k in range(options.sample)]
            seconds, found = timed(lambda jobs=jobs: in_parallel(_of_constrained, jobs, options.processes))
            counts, evaluations = [c for c, _ in found], np.mean([e for _, e in found], axis=0)
            it = row("constrained", f"{n}-{kind}", counts, most, seconds, seed=options.seed, r=r,
                     evaluations=evaluations.tolist())
            means.append(it["mean"])
            what = f"{n}-{kind}, {'default' if r is None else f'as published, r = {r:g}'}"
            report(f"{what}, mean", it["mean"], "trials", "", None,
                   f"{it['solved']} of {it['of']}, median {np.median(counts):g}, last {it['last']}, evaluations "
                   f"{', '.join(f'{e:.0f}' for e in evaluations)}, {seconds / sum(counts) * 1e3:.2f} ms a trial")
            if r is None:
                report(f"{what}, solved", it["solved"], f"of {it['of']}", "all", it["solved"] == it["of"])
        if len(means) > 1:
            share = means[0] / min(means[1:])
            report(f"{n}-{kind}, default beside the best r", share, "of its mean", "<= 1", share <= 1)


def _overhead(options: argparse.Namespace) -> None:
    head(f"Processor time beside that of the function, a trial, in 5 variables: mean of {options.trials:,} trials")
    problem = _class(options.vectors, "5-hard")[0]
    for name, search in (("as published", IndexMethod(5, options=MethodOptions(r=4.4))), ("default", default_search(5))):
        def some(count: int, search: Any = search) -> None:
            for _ in range(count):
                asked = search.ask()[0]
                search.tell(asked.number, TrialOutcome((problem.fun(problem.at(asked.point)),)))
        report_overhead(f"{name}, asking and telling", partial(some, options.trials), options.trials, [problem.fun])
    whole = partial(infimum.minimize, bounds=[(problem.lo, problem.hi)] * 5, engine="index", progress=False)
    report_overhead("minimize", partial(whole, problem.fun, max_trials=options.trials), options.trials, [problem.fun])
    few = options.trials // 5
    for kind in CONSTRAINED:
        box = constrained(kind, 5, 0, options.seed)
        report_overhead(f"minimize, {few:,} of 5-{kind}, constrained",
                        partial(whole, box.fun, constraints=box.constraints, max_trials=few), few, [*box.constraints, box.fun])


def report_overhead(what: str, run: Callable[[], Any], trials: int, functions: list[Callable]) -> None:
    """Of a run, the functions of whose trials are timed by themselves at random points, each as often as a run computes it."""
    start = time.process_time()
    result = run()
    spent = time.process_time() - start
    times = trials if result is None else np.array(result.trials.evaluations)
    points = np.random.default_rng(0).uniform(-1, 1, (2000, 5))
    costs = []
    for f in functions:
        start = time.process_time()
        for x in points:
            f(x)
        costs.append((time.process_time() - start) / len(points))
    figure = 1e3 * (spent - float(np.sum(times * np.array(costs)))) / trials
    report(what, figure, "ms", "<= 1", figure <= 1)


PARTS = {"published": _published, "default": _default, "drawn": _drawn_part, "constrained": _constrained_part,
         "overhead": _overhead}


def chosen(options: argparse.Namespace, among: Any) -> list[str]:
    """The classes that were asked for."""
    return [name for name in among if not options.classes or name in options.classes]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=Path, help="the folder of the parameters, which all parts but `constrained` need")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), help="only these parts")
    parser.add_argument("--classes", nargs="+", choices=CLASSES, help="only these classes")
    parser.add_argument("--sample", type=int, default=100, help="how many functions of each class, 100")
    parser.add_argument("--most", type=int, help="give up a function after so many trials; 4 times the best published")
    parser.add_argument("--seed", type=int, default=1, help="of the functions that are drawn")
    parser.add_argument("--variables", type=int, nargs="+", choices=CONSTRAINED_MOST, default=[2, 5],
                        help="how many, of constrained problems; 2 and 5")
    parser.add_argument("--r", type=float, nargs="*", default=[3.0, 4.5],
                        help="of the method as published beside the default; 3 and 4.5")
    parser.add_argument("--trials", type=int, default=100_000, help="of the part overhead, 100,000")
    parser.add_argument("--processes", type=int, default=1, help="how many functions are searched at once")
    parser.add_argument("--json", help="write the table to this file, again after each part")
    options = parser.parse_args()
    if options.vectors is None and set(options.only) != {"constrained"}:
        parser.error("--vectors is needed but for --only constrained")
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}"
    print(machine)
    for part in options.only:
        PARTS[part](options)
        write_json(options.json, machine, table=TABLE)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
