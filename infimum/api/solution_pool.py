"""The k best points of a problem with whole numbers: each is the best of those whose whole numbers differ from all before it.

The box is cut around the whole numbers that were found: of a box with the point p, the parts x_i <= p_i - 1 and x_i >= p_i + 1
remain, for one whole variable i after the other, with those before it held at p. They hold all points but those with the whole
numbers p, so that a proof about these parts as start boxes is a proof about what is left.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from infimum.problem.variable_bounds import FAR
from infimum.result import RankedPoint, Result, Verdict

Box = list[tuple[Any, Any]]  # a pair for each variable, of doubles or of exact numbers
_ADDED = ("solved", "iterations", "failed", "limited", "spared", "rounds", "redone")  # of what a result says of its work, counts


def with_solutions(first: Result, count: int, boxes: Sequence[Box], integers: Sequence[int],
                   again: Callable[[list[Box]], Result | None]) -> Result:
    """The result with at most `count` points, of which the first is its own, and with the work of all runs. `again` solves the
    problem in other start boxes; None where no time is left. A run that was stopped is the last one, since nothing is proved
    about what comes after it."""
    found, result, left, runs = [], first, list(boxes), [first]
    while result is not None and np.isfinite(result.lower if result.maximised else result.upper):
        found.append(RankedPoint(result.x, result.fun, result.lower, result.upper, result.verdict))
        whole = result.x[list(integers)]  # beyond FAR it need not be the best point itself
        if len(found) == count or result.verdict is not Verdict.PROVED or np.abs(whole).max() >= FAR:
            break
        left = [part for box in left for part in _without(box, result.x, integers)]
        result = again(left) if left else None
        runs += [] if result is None else [result]
    return replace(_with_work_of(runs), solutions=tuple(found))


def _with_work_of(runs: Sequence[Result]) -> Result:
    """The first of them, with what all of them did."""
    first = runs[0]
    return replace(first, **{name: sum(getattr(run, name) for run in runs) for name in ("nfev", "nit", "seconds")},
                   plain_calls=None if first.plain_calls is None else sum(run.plain_calls or 0 for run in runs),
                   lp=_added([run.lp for run in runs]), rounds=_added([run.rounds for run in runs]))


def _added(reports: Sequence[dict[str, Any] | None]) -> dict[str, Any] | None:
    """One report in the place of several, with their counts added up; some runs have none."""
    known = [report for report in reports if report is not None]
    return {name: sum(report[name] for report in known) if name in _ADDED else value for name, value in known[0].items()} \
        if known else None


def _without(box: Box, x: np.ndarray, integers: Sequence[int]) -> Iterator[Box]:
    """The parts of a box that hold all of its points but those with the whole numbers of x."""
    if any(not low <= x[i] <= high for i, (low, high) in enumerate(box) if i in integers):
        yield box
        return
    held = list(box)
    for i in integers:
        low, high = held[i]
        for part in ((low, x[i] - 1.0), (x[i] + 1.0, high)):
            if part[0] <= part[1]:
                yield [*held[:i], part, *held[i + 1:]]
        held[i] = (x[i], x[i])
