"""Other searches of black boxes, run until a trial is near the known minimiser: what the index method is compared with.

Each has the settings that its own documentation recommends, but for its stopping rules, which are set so that it goes on until
the budget is used up. Nothing here imports infimum, so that iOpt, which pins NumPy 1.26, can run in an environment of its own.
"""

import contextlib
import importlib.util
import io
import json
import os
import platform
import subprocess
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from bench.black_boxes import BlackBox, from_vectors

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
TUNED = {"grishagin": 3.0, "2-simple": 4.6, "2-hard": 6.5, "3-simple": 3.7, "3-hard": 4.4}   # r of the index method, by class


class Done(BaseException):
    """Ends a search from within its function; no Exception, so that none handles it as one."""


class Watched:
    """A black box that counts its trials, and ends the search when one is near the minimiser, or the budget is used up."""

    def __init__(self, box: BlackBox, most: int):
        self.box, self.most, self.n = box, most, len(box.minimiser)
        self.lo, self.hi = [box.lo] * self.n, [box.hi] * self.n
        self.trials, self.solved = 0, False

    def __call__(self, x: Any, *_: Any) -> float:
        if self.solved or self.trials >= self.most:
            raise Done
        self.trials += 1
        x = np.array(x, dtype=float)
        self.solved = self.box.solved(x)
        if self.solved:
            raise Done
        return self.box.fun(x)


def scipy_direct(f: Watched, seed: int, kind: str, biased: bool) -> None:
    from scipy.optimize import direct
    direct(f, list(zip(f.lo, f.hi, strict=True)), maxfun=f.most, maxiter=f.most, vol_tol=0.0, len_tol=0.0, locally_biased=biased)


def nlopt_search(f: Watched, seed: int, kind: str, algorithm: str) -> None:
    """AGS has r = 3, which its interface does not let one change."""
    import nlopt
    search = nlopt.opt(getattr(nlopt, algorithm), f.n)
    search.set_lower_bounds(f.lo)
    search.set_upper_bounds(f.hi)
    search.set_min_objective(f)
    search.set_maxeval(f.most)
    search.optimize([0.5 * (a + b) for a, b in zip(f.lo, f.hi, strict=True)])


def optuna_search(f: Watched, seed: int, kind: str, sampler: str) -> None:
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    settings = {"deterministic_objective": True} if sampler == "GPSampler" else {}
    study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed, **settings))
    while True:
        trial = study.ask()
        study.tell(trial, f([trial.suggest_float(f"x{k}", a, b) for k, (a, b) in enumerate(zip(f.lo, f.hi, strict=True))]))


def iopt_search(f: Watched, seed: int, kind: str, tuned: bool) -> None:
    """With r = 2, its default, or with the r that was published for AGS on the class: of a curve of order 12, where iOpt 0.5 has
    order 10, whatever its `evolvent_density`."""
    from iOpt.problem import Problem
    from iOpt.solver import Solver
    from iOpt.solver_parametrs import SolverParameters

    class Its(Problem):
        def __init__(self) -> None:
            super().__init__()
            self.name, self.dimension, self.number_of_float_variables, self.number_of_objectives = kind, f.n, f.n, 1
            self.float_variable_names = np.array([f"x{k}" for k in range(f.n)])
            self.lower_bound_of_float_variables, self.upper_bound_of_float_variables = np.array(f.lo), np.array(f.hi)

        def calculate(self, point: Any, function_value: Any) -> Any:
            function_value.value = f(point.float_variables)
            return function_value
    r = {"r": TUNED[kind]} if tuned else {}
    Solver(Its(), parameters=SolverParameters(eps=1e-9, iters_limit=f.most, **r)).solve()


@dataclass(frozen=True)
class Peer:
    """A search, what it needs, and what can be afforded in 2 and in 3 variables: how many functions of a class, and trials."""

    search: Callable[[Watched, int, str], None]
    modules: tuple[str, ...]
    sample: tuple[int, int]
    most: tuple[int, int]

    def missing(self) -> str | None:
        """The first module that is not installed."""
        return next((name for name in self.modules if importlib.util.find_spec(name) is None), None)


QUICK = (100, 30), (5_000, 20_000)     # functions and trials, in 2 and in 3 variables
PEERS = {
    "SciPy direct": Peer(partial(scipy_direct, biased=True), ("scipy",), *QUICK),
    "SciPy direct, not biased": Peer(partial(scipy_direct, biased=False), ("scipy",), *QUICK),
    "NLopt DIRECT": Peer(partial(nlopt_search, algorithm="GN_DIRECT"), ("nlopt",), *QUICK),
    "NLopt DIRECT-L": Peer(partial(nlopt_search, algorithm="GN_DIRECT_L"), ("nlopt",), *QUICK),
    "NLopt AGS": Peer(partial(nlopt_search, algorithm="GN_AGS"), ("nlopt",), *QUICK),
    "iOpt": Peer(partial(iopt_search, tuned=False), ("iOpt",), (20, 10), QUICK[1]),
    "iOpt, r tuned": Peer(partial(iopt_search, tuned=True), ("iOpt",), (100, 20), QUICK[1]),
    "Optuna TPE": Peer(partial(optuna_search, sampler="TPESampler"), ("optuna",), (20, 10), (500, 500)),
    "Optuna GP": Peer(partial(optuna_search, sampler="GPSampler"), ("optuna", "scipy", "torch"), (10, 5), (150, 150)),
}


@cache
def functions(folder: str, kind: str) -> list[BlackBox]:
    """Those of a class, read once."""
    return from_vectors(Path(folder), kind)


def one(name: str, folder: str, kind: str, number: int, most: int) -> dict[str, Any]:
    """A search of one function: its trials, whether one was near the minimiser, and seconds of processor time."""
    f, start = Watched(functions(folder, kind)[number], most), time.process_time()
    with contextlib.suppress(Done), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        PEERS[name].search(f, number, kind)
    return {"trials": f.trials, "solved": f.solved, "seconds": time.process_time() - start}


def own_versions(name: str) -> dict[str, str]:
    """Of Python and of what a peer needs."""
    return {"Python": platform.python_version()} | {package: version(package) for package in ("numpy", *PEERS[name].modules)}


def versions(name: str, interpreter: str | None) -> dict[str, str]:
    """Of Python and of what a peer needs, here or in another environment."""
    return own_versions(name) if interpreter is None else _by(interpreter, "own_versions", [[name]])[0]


def elsewhere(interpreter: str, name: str, folder: str, kind: str, numbers: list[int], most: int) -> list[dict[str, Any]]:
    """As `one`, in another environment, of several functions."""
    return _by(interpreter, "one", [[name, folder, kind, number, most] for number in numbers])


def _by(interpreter: str, function: str, calls: list[list[Any]]) -> list[Any]:
    """What a function of this file returns in another environment, for each list of arguments."""
    code = (f"import json, sys\nfrom bench.search_peers import {function}\n"
            f"print(json.dumps([{function}(*arguments) for arguments in json.loads(sys.argv[1])]))")
    run = subprocess.run([interpreter, "-c", code, json.dumps(calls)], capture_output=True, text=True, cwd=ROOT,
                         env={**os.environ, "PYTHONPATH": ROOT})
    if run.returncode:
        raise RuntimeError(f"{interpreter}: {run.stderr.strip().splitlines()[-1]}")
    return json.loads(run.stdout.splitlines()[-1])
