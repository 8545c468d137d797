"""How long is the first call? Every model of a folder, each solved once in a new process with the cache off.

    python bench/first_call.py --models FOLDER [--limit 2] [--only TEXT ...] [--jobs 1] [--json FILE]

The clock starts after `import numpy, infimum`: what is imported later counts. The median is over the models that are solved
within the limit. What the time goes into is sampled by processor time: each sample belongs to the innermost
frame of the stack that a row of ACTIVITIES names. Two more figures: the seconds of `import infimum`, and how many modules of
the package are loaded for a problem of two variables and two constraints. FOLDER holds `.nl` files.
Exit status 1: a figure is above what is wanted.
"""

import argparse
import compileall
import os
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
os.environ["INFIMUM_CACHE"] = "off"
import numpy  # noqa: E402, F401 - every user's function needs it

import infimum  # noqa: E402 - the clock starts after it
from bench.process import answer as process_answer  # noqa: E402
from bench.table import exit_code, head, report, write_json  # noqa: E402

SOLVED = ("PROVED", "INFEASIBLE")
HUNG = 60.0                   # seconds after the limit after which a call is given up
SAMPLE = 0.001                # seconds of processor time; systems with a coarser clock take fewer samples
MOST_SECONDS, MOST_IMPORT, MOST_MODULES = 0.15, 0.1, 150
IMPORTS = 5                   # new interpreters of which the median is taken
# how the file of a frame ends, and what is being done there; the first row that fits counts
ACTIVITIES = (
    ("<frozen importlib._bootstrap>", "importing modules"), ("llvmlite/", "compiling kernels"),
    ("infimum/backend/", "running and rendering kernels"), ("infimum/kernel/", "writing kernels"),
    ("_kernel.py", "writing kernels"), ("_kernels.py", "writing kernels"), ("infimum/interval/", "writing kernels"),
    ("infimum/ops/", "writing kernels"), ("infimum/evaluation/", "evaluating"), ("infimum/expr/", "rewriting expressions"),
    ("infimum/structure/", "rewriting expressions"), ("infimum/trace/", "tracing"), ("infimum/ampl/", "reading the file"),
    ("infimum/points/", "searching for points"), ("infimum/relax/", "relaxations"), ("infimum/bounds/", "bounds"),
    ("infimum/search/", "search"), ("infimum/engines/", "search"), ("infimum/certify/", "certifying"), ("infimum/", "the rest"),
)
TWO_CONSTRAINTS = """
import sys, numpy as np, infimum
infimum.minimize(lambda x: x[0] * np.exp(x[1]) + x[1] ** 2, [(-1, 2)] * 2,
                 constraints=[lambda x: x[0] ** 2 + x[1] ** 2 <= 1, lambda x: x[0] + x[1] >= 0.5])
print(sum(name.partition(".")[0] == "infimum" for name in sys.modules))
"""


def activity(frame: FrameType | None) -> str:
    """What the innermost frame that a row of the table names is there for."""
    while frame is not None:
        file = frame.f_code.co_filename
        for text, name in ACTIVITIES:
            if text in file:
                return name
        frame = frame.f_back
    return "the rest"


def measured(path: Path, limit: float, answer: Any) -> None:
    """One model in this process, which has loaded nothing but the package's outermost module."""
    samples: Counter[str] = Counter()
    signal.signal(signal.SIGPROF, lambda _, frame: samples.update((activity(frame),)))
    signal.setitimer(signal.ITIMER_PROF, SAMPLE, SAMPLE)
    start, begun = time.perf_counter(), time.process_time()
    try:
        from infimum.ampl import read
        from infimum.ampl.model_run import solve
        result = solve(read(str(path)), settings={"time_limit": limit, "device": "cpu", "progress": False})[0]
        verdict = result.verdict.name
    except infimum.InfimumError as error:
        verdict = type(error).__name__
    seconds, used = time.perf_counter() - start, time.process_time() - begun
    signal.setitimer(signal.ITIMER_PROF, 0)
    modules = sum(name.partition(".")[0] == "infimum" for name in sys.modules)
    answer.send({"seconds": seconds, "cpu": used, "verdict": verdict, "modules": modules, "samples": dict(samples)})


def started(path: Path, limit: float) -> tuple[Any, Any, Path]:
    """A process forked from this one, and where its answer comes."""
    here, there = get_context("fork").Pipe(duplex=False)
    process = get_context("fork").Process(target=measured, args=(path, limit, there))
    process.start()
    there.close()
    return process, here, path


def collected(process: Any, here: Any, path: Path, limit: float) -> dict[str, Any]:
    """The answer of a child, or what became of it."""
    found: dict[str, Any] = {"problem": path.stem, "seconds": limit + HUNG, "cpu": 0.0, "verdict": "HUNG", "samples": {}}
    return process_answer(process, here, limit + HUNG, found)


def run(paths: list[Path], limit: float, jobs: int) -> list[dict[str, Any]]:
    """All models."""
    rows, left, running = [], list(paths), []
    while left or running:
        while left and len(running) < jobs:
            running.append(started(left.pop(0), limit))
        process, here, path = running.pop(0)
        rows.append(collected(process, here, path, limit))
    return rows


def fresh(code: str) -> str:
    """What a new interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": ROOT}, check=True, capture_output=True,
                          text=True, timeout=HUNG).stdout


def import_seconds() -> float:
    """Of NumPy's import, which the user's function needs in any case, nothing is counted."""
    code = "import time, numpy; start = time.perf_counter(); import infimum; print(time.perf_counter() - start)"
    return statistics.median(float(fresh(code)) for _ in range(IMPORTS))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", metavar="FOLDER", required=True)
    parser.add_argument("--limit", type=float, default=2.0)
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    asked = parser.parse_args()
    compileall.compile_dir(os.path.join(ROOT, "infimum"), quiet=1)  # as where it is installed
    paths = [path for path in sorted(Path(asked.models).glob("*.nl")) if any(text in path.stem for text in asked.only)]
    if not paths:
        parser.error(f"there are no such .nl files in {asked.models}")
    rows = run(paths, asked.limit, asked.jobs)
    solved = [row for row in rows if row["verdict"] in SOLVED]
    if not solved:
        parser.error(f"none of {len(rows)} models is solved within {asked.limit:g} s")
    head(f"{len(rows)} models, {len(solved)} solved within {asked.limit:g} s")
    for what, key, wanted in (("seconds", "seconds", MOST_SECONDS), ("seconds of processor time", "cpu", None)):
        middle = statistics.median(row[key] for row in solved)
        report(f"median first solve, {what}", middle, "s", "" if wanted is None else f"<= {wanted:g}",
               None if wanted is None else middle <= wanted)
    seconds, modules = import_seconds(), int(fresh(TWO_CONSTRAINTS))
    report("import infimum", seconds, "s", f"<= {MOST_IMPORT:g}", seconds <= MOST_IMPORT)
    report("modules for two variables and two constraints", modules, "modules", f"<= {MOST_MODULES}", modules <= MOST_MODULES)
    total = sum((Counter(row["samples"]) for row in solved), Counter())
    used = statistics.mean(row["cpu"] for row in solved)
    head("what the processor time of solved models goes into")
    for name, count in total.most_common():
        report(name, 1000 * used * count / total.total(), "ms a model", note=f"{100 * count / total.total():.0f} %")
    from bench.table import this_machine
    write_json(asked.json, this_machine(), calls=rows)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
