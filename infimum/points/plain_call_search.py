"""The answer of a run that had no time to trace or to compile its function: the best point that plain calls of it find."""

from collections.abc import Callable, Iterator
from itertools import cycle
from time import perf_counter
from typing import Any

import numpy as np

from infimum.points.random_numbers import uniform
from infimum.problem.cover import Cover
from infimum.problem.problem import Problem
from infimum.problem.start_boxes import StartBoxes
from infimum.result import Result, Verdict
from infimum.search.policy.points import PLAIN_CALL_SEARCH as POLICY
from infimum.support import environment

_STREAM = 6  # fixed: the stream of random numbers
_EARLY = "The run ended before the first region was enclosed: "
MORE_TIME = _EARLY + "give it more time."
MORE_MEMORY = _EARLY + "close other programs, or give a smaller batch or fewer particles."


def by_plain_calls(problem: Problem, fun: Callable[[np.ndarray], Any] | None, best: tuple[np.ndarray, float] | None, message: str,
                   seconds: float, seed: int, engine: str) -> Result:
    """Calls `fun` with plain numbers for the given number of seconds, once at least. Nothing is proved: `fun` of the result is an
    estimate, the whole box may hold minimisers. `best` is a point with an estimate of its value, if there is one already."""
    x, value = best if best is not None and np.isfinite(best[1]) else (None, np.inf)
    end, calls = perf_counter() + seconds, 0
    for point in _points(problem, seed) if fun is not None and x is None else ():
        found = _called(fun, point)
        calls += 1
        if x is None or found < value:
            x, value = point, found
        if perf_counter() >= end:
            break
    lo, hi = tuple(end[:, None] for end in problem.region) if problem.start is None else problem.start.regions
    boxes = [(low.copy(), high.copy()) for low, high in zip(lo.T, hi.T, strict=True)]
    return Result(x=x, fun=value, success=False, status=list(Verdict).index(Verdict.STOPPED), message=message, nit=0, nfev=calls,
                  verdict=Verdict.STOPPED, obstacle=MORE_TIME, lower=-np.inf, upper=np.inf, boxes=boxes,
                  regions=Cover(lo, hi, np.full(len(boxes), -np.inf)), engine=engine, seed=seed)


def _points(problem: Problem, seed: int) -> Iterator[np.ndarray]:
    """The user's points, the middle of the bounds, random ones: all of them inside, in one start box after another."""
    if problem.x0 is not None:
        yield from problem.x0.T
    start = problem.start and problem.start.with_doubles() or StartBoxes(problem.lo[:, None], problem.hi[:, None])
    boxes = cycle(zip(start.lo.T, start.hi.T, strict=True))
    units = [np.full((len(problem.lo), len(start)), 0.5)]
    for step in range(POLICY.most_points // POLICY.points_at_once):
        for unit in np.concatenate(units, axis=1).T:
            low, high = next(boxes)
            lo, hi = np.minimum(np.clip(low, -POLICY.largest_coordinate, None),
                                high), np.maximum(np.clip(high, None, POLICY.largest_coordinate), low)
            yield np.clip(lo * (1 - unit) + hi * unit, low, high)
        units = [uniform(seed, _STREAM, step, range(POLICY.points_at_once), len(problem.lo))]


def _called(fun: Callable[[np.ndarray], Any], x: np.ndarray) -> float:
    """The value at a point, infinite where the function fails or has none."""
    try:
        value = float(environment.call(fun, x.copy()))
    except Exception:  # the user's function, at a point where it may not be defined
        return np.inf
    return value if np.isfinite(value) else np.inf
