"""What to do about a run that stopped with an open gap: found in how its bounds moved, in the function and in what was asked.

Nothing here is part of a proof.
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.points.random_numbers import uniform
from infimum.problem.problem import Problem
from infimum.result import Result, Verdict
from infimum.search.policy.bounds import DIAGNOSIS as POLICY
from infimum.support.clock import briefly

_STREAM = 11  # fixed: the stream of random numbers


class RunSettings(NamedTuple):
    """Settings of the run that a cure may name."""

    engine: str = "auto"
    workers: Any = None
    lp: bool | None = None


def advice(result: Result, problem: Problem, evaluator: Evaluator, asked: RunSettings) -> str | None:
    """One or two sentences for a run with an open gap; None for all others."""
    if result.verdict in (Verdict.STOPPED, Verdict.UNDECIDED) and result.gap == np.inf:
        return _endless(result)
    if result.verdict is not Verdict.STOPPED or not np.isfinite(result.gap) or not result.gap:
        return None
    symmetry = briefly(lambda: _symmetry(problem, evaluator, result.seed))
    found = (symmetry, _point(result), _programs(evaluator, asked), _time(result, asked))
    return " ".join([sentence for sentence in found if sentence is not None][:2])


def _endless(result: Result) -> str | None:
    """Which variables run to infinity where no bound of the function is known."""
    regions, bound = result.regions, result.upper if result.maximised else result.lower
    known = regions is not None and regions.kept and len(regions) > 0
    if np.isfinite(bound) or abs(result.fun) > -POLICY.possibly_unbounded or not known:
        return None
    open_ = np.isinf(regions.lower)
    sides = [np.isinf(end[open_]).any(axis=0) for end in (regions.lo, regions.hi)]
    wanted = {(True, False): "a finite lower bound", (False, True): "a finite upper bound", (True, True): "finite bounds"}
    asked = [f"x[{i}] {wanted[bool(low), bool(high)]}" for i, (low, high) in enumerate(zip(*sides, strict=True)) if low or high]
    if not asked:
        return None
    listed = ", ".join(asked[:POLICY.shown_variables]) + (", …" if len(asked) > POLICY.shown_variables else "")
    return f"Give {listed}, or constraints from which these follow: the function is not bounded there by what is known of it."


def _symmetry(problem: Problem, evaluator: Evaluator, seed: int) -> str | None:
    """Variables that can be exchanged make as many copies of every region as there are orders of them."""
    n = evaluator.n
    if not 1 < n <= POLICY.most_variables or evaluator.system is not None or problem.several is not None:
        return None
    low, high = (np.clip(end, -1e3, 1e3) for end in (problem.lo, problem.hi))
    unit = uniform(seed, _STREAM, 0, range(POLICY.tried_points), n)
    points = low[:, None] + (high - low)[:, None] * unit
    pairs = [(i, j) for i in range(n) for j in range(i) if (problem.lo[i], problem.hi[i]) == (problem.lo[j], problem.hi[j])]
    if not pairs or not (high > low).all():
        return None
    moved = np.repeat(points[:, None], len(pairs), axis=1)
    for k, (i, j) in enumerate(pairs):
        moved[[i, j], k] = points[[j, i]]
    values = evaluator.estimate(points)
    exchanged = evaluator.estimate(moved.reshape(n, -1)).reshape(len(pairs), POLICY.tried_points)
    same = (np.abs(exchanged - values) <= POLICY.same_value * np.abs(values)).all(axis=1)
    if not same.any():
        return None
    names = range(n) if evaluator.numbers is None else evaluator.numbers
    first = pairs[int(np.argmax(same))][1]
    alike = [first, *(i for (i, j), equal in zip(pairs, same, strict=True) if equal and j == first)]
    listed = [f"x[{names[k]}]" for k in alike]
    order = ", ".join(f"{a} <= {b}" for a, b in pairwise(listed))
    wanted = f"constraint `lambda x: {order}` leaves" if len(alike) == 2 else f"constraints `lambda x: [{order}]` leave"
    return f"The function seems to stay the same when {', '.join(listed[:-1])} and {listed[-1]} are exchanged: if so, the " \
           f"{wanted} out what is there {math.factorial(len(alike)):,} times."


def _point(result: Result) -> str | None:
    """Was a better point found late?"""
    before = _at_three_quarters(result)
    found = before is not None and (result.lower > before.lower if result.maximised else result.upper < before.upper)
    if not found:
        return None
    return "Better points were still being found: offer the one that a longer search finds as x0=, by the same call with " \
           'engine="swarm".'


def _programs(evaluator: Evaluator, asked: RunSettings) -> str | None:
    system = evaluator.system
    if system is None or not system.m or asked.lp is not False or asked.engine != "auto" or asked.workers is not None:
        return None
    return 'Linear programs give other bounds where there are constraints: options={"lp": True}.'


def _time(result: Result, asked: RunSettings) -> str:
    """Does more time help?"""
    before = _at_three_quarters(result)
    gap = np.inf if before is None else before.upper - before.lower
    if not np.isfinite(gap):
        return "The first bounds were found in the last quarter of the time: give it a larger limit."
    if not result.gap <= (1 - POLICY.moving_gap) * gap:
        return "The gap has hardly moved in the last quarter of the time: narrower bounds, or a formula in which each variable " \
               "occurs less often, help more than time."
    more = "" if asked.workers is not None else ", or workers='ray', which uses other machines too"
    return f"The gap is still closing: give it a larger limit{more}."


def _at_three_quarters(result: Result) -> Any:
    """The bounds as they were after three quarters of the time; None if there were none."""
    return next((entry for entry in reversed(result.history) if entry.seconds <= 0.75 * result.seconds), None)
