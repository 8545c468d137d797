"""What fits are compared with: SciPy and lmfit, which search, and MAiNGO and Gurobi, which claim a proof.

A fit is wrong if its sum of squares is more than 1e-6, relatively, above the least one known within the bounds. A peer gets the
model, the data and the bounds that we get, and some seconds:

  curve_fit     SciPy's, from 100 random starts within the bounds
  hopping       lmfit's basinhopping, from a random start, then its Levenberg-Marquardt method
  evolution     lmfit's differential_evolution, then the same
  MAiNGO        to a relative gap of 1e-6, in the space of the parameters
  Gurobi        to the same, with a variable for each residual: some 200 by its free licence; it has no arctangent

Each is meant for a process of its own (`peer`), with one thread.
"""

import importlib
import math
import operator
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from types import SimpleNamespace
from typing import Any

import numpy as np

from bench.nist.problems import Fit, read
from bench.provers import PLAIN, Contest, gurobi, maingo

CLOSE = 1e-6            # relative
STARTS, RUNS = 100, 10  # at most: of curve_fit, of lmfit
LARGE = 1e150
ENDS = ("right", "wrong", "failed", "late")  # of a run


# ---- searching: each yields the parameters that a run ends with, None if it says that it failed, run after run

def curve_fit(p: Fit, lo: np.ndarray, hi: np.ndarray, stop: Callable[[], bool]) -> Iterator[np.ndarray | None]:
    from scipy.optimize import curve_fit
    rng = np.random.default_rng(0)
    for _ in range(STARTS):
        try:
            yield curve_fit(lambda x, *b: finite(p.model(x, *b)), p.x, p.y, p0=rng.uniform(lo, hi), bounds=(lo, hi))[0]
        except RuntimeError:  # too many steps
            yield None


def lmfit(p: Fit, lo: np.ndarray, hi: np.ndarray, stop: Callable[[], bool], method: str) -> Iterator[np.ndarray | None]:
    from lmfit import Minimizer, Parameters
    from lmfit.minimizer import AbortFitException

    def values(given: Any) -> np.ndarray:
        return np.array(list(given.valuesdict().values()))
    for seed in range(RUNS):
        given = Parameters()
        for k, (value, *ends) in enumerate(zip(np.random.default_rng(seed).uniform(lo, hi), lo, hi, strict=True), 1):
            given.add(f"b{k}", value, True, *ends)
        search = Minimizer(lambda q: finite(p.y - p.model(p.x, *values(q))), given, iter_cb=lambda *_: stop())
        try:
            found = search.minimize(method=method, seed=seed)
            yield values(search.leastsq(params=found.params).params)
        except AbortFitException:
            yield None


SEARCHERS = {"curve_fit": curve_fit, "hopping": partial(lmfit, method="basinhopping"),
             "evolution": partial(lmfit, method="differential_evolution")}
PROVERS = {"MAiNGO": maingo, "Gurobi": gurobi}
PEERS = (*SEARCHERS, *PROVERS)
MODULES = {"curve_fit": "scipy.optimize", "hopping": "lmfit", "evolution": "lmfit", "MAiNGO": "maingopy", "Gurobi": "gurobipy"}


def finite(values: np.ndarray) -> np.ndarray:
    """Large numbers for those that are none: searches go on where a model overflows."""
    return np.nan_to_num(values, nan=LARGE, posinf=LARGE, neginf=-LARGE)


def right(value: float, best: float) -> bool:
    return value <= best * (1 + CLOSE)


def searched(name: str, p: Fit, rule: str, limit: float, best: float) -> dict[str, Any]:
    """As many runs as end within the limit; the one that does not is late, unless it is right."""
    lo, hi = np.array(p.bounds(rule)).T
    begin = last = time.perf_counter()
    times, sums, counts = [], [], dict.fromkeys(ENDS, 0)

    def stop() -> bool:
        return time.perf_counter() - begin > limit
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for b in SEARCHERS[name](p, lo, hi, stop):
            last, before = time.perf_counter(), last
            value = math.inf if b is None else p.sum_of_squares(np.clip(b, lo, hi))
            late = stop()
            counts["right" if right(value, best) else "late" if late else "failed" if b is None else "wrong"] += 1
            times, sums = [*times, last - before], [*sums, value]
            if late:
                break
    return counts | {"seconds": median(times), "total": last - begin, "value": min(sums)}


# ---- proving

class Symbol:
    """A peer's expression that NumPy's functions take, so that the model is the one that we get: np.exp of an array of such
    objects calls `exp` of each. `m` has the peer's own functions."""

    def __init__(self, e: Any, m: SimpleNamespace):
        self.e, self.m = e, m

    def __neg__(self) -> "Symbol":
        return Symbol(-self.e, self.m)

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, int):
            return Symbol(self.e**power, self.m) if power > 0 else Symbol(1 / self.e**-power, self.m)
        return NotImplemented if isinstance(power, np.ndarray) else (self.log() * power).exp()

    def __rpow__(self, base: Any) -> Any:
        return NotImplemented if isinstance(base, np.ndarray) else (self * float(np.log(base))).exp()


def _operator(operation: Callable[[Any, Any], Any], swapped: bool) -> Callable[[Symbol, Any], Any]:
    def method(self: Symbol, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # so that NumPy goes through its elements
        other = other.e if isinstance(other, Symbol) else float(other)
        return Symbol(operation(other, self.e) if swapped else operation(self.e, other), self.m)
    return method


def _function(name: str) -> Callable[[Symbol], Symbol]:
    def method(self: Symbol) -> Symbol:
        if not hasattr(self.m, name):
            raise NotImplementedError(f"it has no {name}")
        return Symbol(getattr(self.m, name)(self.e), self.m)
    return method


for _name in ("add", "sub", "mul", "truediv"):
    setattr(Symbol, f"__{_name}__", _operator(getattr(operator, _name), swapped=False))
    setattr(Symbol, f"__r{_name}__", _operator(getattr(operator, _name), swapped=True))
for _name in ("exp", "log", "sqrt", "sin", "cos", "arctan"):
    setattr(Symbol, _name, _function(_name))


def contest(p: Fit, rule: str, scale: float) -> Contest:
    """The fit as a problem of the provers, its residuals multiplied."""
    def formula(b: list, m: SimpleNamespace) -> Any:
        residuals = scale * (p.y - p.model(p.x, *(Symbol(e, m) for e in b)))
        return sum(m.let(r.e) ** 2 for r in residuals)
    return Contest(p.sum_of_squares, formula, tuple(p.bounds(rule)))


def proved(name: str, p: Fit, rule: str, limit: float, best: float) -> dict[str, Any]:
    """One run. It is late if it did not end by itself. `false`: the bounds that it claims do not hold the least sum known.

    Their tolerances are absolute: the least sum is made 1.
    """
    begin, scale = time.perf_counter(), 1 / math.sqrt(best)
    problem = contest(p, rule, scale)
    assert math.isclose(problem.formula(p.starts[0].tolist(), PLAIN), scale**2 * p.sum_of_squares(p.starts[0]), rel_tol=1e-9)
    claim = PROVERS[name](problem, limit, split=True, atol=CLOSE, rtol=CLOSE)
    seconds, (lo, hi) = time.perf_counter() - begin, np.array(problem.bounds).T
    value = math.inf if claim.x is None else p.sum_of_squares(np.clip(np.array(claim.x), lo, hi))
    late, least = not claim.solved and seconds >= limit, min(1.0, float(p.squares_text) / best)
    end = "late" if late else "right" if right(value, best) else "wrong" if claim.solved else "failed"
    return dict.fromkeys(ENDS, 0) | {
        end: 1, "seconds": seconds, "total": seconds, "value": value, "lower": claim.lower * best, "upper": claim.upper * best,
        "status": claim.status, "false": claim.lower > 1 + CLOSE or claim.upper < least - CLOSE}


def peer(name: str, problem: str, rule: str, limit: float, best: float) -> dict[str, Any]:
    """One peer on one problem, in so many seconds; `best` is the least sum of squares known."""
    importlib.import_module(MODULES[name])
    try:
        return (searched if name in SEARCHERS else proved)(name, read()[problem], rule, limit, best)
    except Exception as error:
        raise RuntimeError(" ".join(str(error).split())) from error  # in one line, which is what the parent shows
