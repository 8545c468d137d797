"""MAiNGO and Gurobi on the problems of `bench/networks.py`, written for them from the same NumPy functions and weights.

A network is a formula of its neurons, one by one; so is a loop over time. Settings are the defaults but for the gaps, one thread.
Gurobi's free licence allows small models only, beyond which it says so: "licence".
"""

import importlib
import sys
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bench.constrained_provers import MODULES, gurobi, maingo
from bench.network_problems import Case, all_cases

SOLVERS = {"MAiNGO": maingo, "Gurobi": partial(gurobi, names=True)}
_DEEP = 100_000  # a loop over time becomes a formula that is as deep as it is long
_SIZE_LIMITED = 10010  # Gurobi's number for that


def as_minimum(case: Case) -> SimpleNamespace:
    """As `bench/constrained_provers.py` takes problems."""
    fun = (lambda x: -case.fun(x)) if case.maximise else case.fun
    return SimpleNamespace(fun=fun, bounds=case.bounds, n=len(case.bounds), constraints=case.constraints, integrality=None)


def peer(name: str, problem: str, limit: float, vectors: str | None) -> dict[str, Any]:
    """One solver on one problem: the seconds from an empty model to the claim, the library imported before. Meant for a process
    of its own, which may crash."""
    importlib.import_module(MODULES[name])
    case = next(c for c in all_cases(None if vectors is None else Path(vectors)) if c.name == problem)
    sys.setrecursionlimit(_DEEP)
    start = time.perf_counter()
    try:
        claim = SOLVERS[name](as_minimum(case), limit, case.rtol, case.atol)
    except Exception as error:
        if getattr(error, "errno", None) != _SIZE_LIMITED:
            raise
        return {"failure": "licence"}
    ends = (-claim.upper, -claim.lower) if case.maximise else (claim.lower, claim.upper)
    return {"seconds": time.perf_counter() - start, "solved": claim.solved, "lower": ends[0], "upper": ends[1],
            "status": claim.status}
