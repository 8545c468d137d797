"""Relations between a traced function and plain calls of it, and between enclosures of it."""

import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np
from flint import arb

import infimum
from bench.related.asking import SETTINGS, Judgement, refusing
from bench.related.balls import PRECISIONS, Undefined, Unsure, ball, precision
from bench.related.draws import Draw, inside, problem
from bench.related.expressions import value
from bench.related.problems import Problem, double, down, up
from infimum.interval.pair import DEFINED

_INF = math.inf
_POINTS = 1000
_CLOSE = 1e-9    # of the size of a value: how far plain calls may be off without a look at the exact value
_LOOKED_AT = 12  # points of a draw that are compared with the exact value
_FORMS = ("natural", "mean value", "linear", "best")


def points(d: Draw, q: Problem, many: int) -> np.ndarray:
    """Points (n, many) within the bounds: short fractions, and any doubles."""
    rows = []
    for i, (lo, hi) in enumerate(q.bounds):
        whole = q.is_whole(i)
        low, high = max(up(lo), -1e3), min(down(hi), 1e3)
        if not low < high:
            rows.append(np.full(many, min(max(inside(d, lo, hi, whole), up(lo)), up(hi))))
            continue
        row = d.rng.uniform(low, high, many)
        short = d.rng.random(many) < 0.5
        row[short] = np.clip(np.rint(row[short] * 4) / 4, low, high)
        rows.append(np.clip(np.rint(row), math.ceil(low), math.floor(high)) if whole else row)
    return np.array(rows)


def plain(fun: Callable, x: np.ndarray) -> np.ndarray:
    """The function at each point, called as a user would; NaN where it has no value, such as exact constants divided by 0."""
    found = np.full(x.shape[1], np.nan)
    with np.errstate(all="ignore"):
        for k in range(x.shape[1]):
            with suppress(infimum.TraceError):
                found[k] = double(fun(np.ascontiguousarray(x[:, k])))
    return found


def traced(d: Draw) -> Judgement:
    """The enclosure at a point holds what a plain call returns there, but for what it rounds."""
    q, _ = problem(d, rows=0.0, whole=0.0)
    with refusing():
        evaluator = infimum.compile(q.fun, q.n, threads=1)
    x = points(d, q, _POINTS)
    found, called = evaluator.value(x, x), plain(q.fun, x)
    size = _CLOSE * np.fmax(1.0, np.abs(called))
    inside = (found.lo - size <= called) & (called <= found.hi + size)
    agrees = np.where(np.isfinite(called), inside, found.level < DEFINED)
    for k in np.flatnonzero(~agrees)[:_LOOKED_AT]:
        wrong = _against_balls(q, x[:, k].tolist(), float(found.lo[k]), float(found.hi[k]), int(found.level[k]))
        if wrong:
            return Judgement(True, f"{wrong}; a plain call returns {called[k]!r}\n{q.source}", "another value")
    return Judgement(True, "", "compared")


def _against_balls(q: Problem, point: list[float], lo: float, hi: float, level: int) -> str:
    for bits in PRECISIONS:
        with precision(bits):
            try:
                v = value(q.f, [ball(a) for a in point])
            except Undefined:
                return f"f is said to be defined at {point!r}, where it is not" if level >= DEFINED else ""
            except Unsure:
                continue
            if _misses(v, lo, hi):
                return f"f is {v.str(17)} at {point!r}, and the enclosure is [{lo!r}, {hi!r}]"
            return ""
    return ""


def _misses(v: arb, lo: float, hi: float) -> bool:
    """A value certainly lies outside an enclosure, which may be empty."""
    return lo > hi or (math.isfinite(lo) and bool(v < ball(lo))) or (math.isfinite(hi) and bool(v > ball(hi)))


def enclosed(d: Draw) -> Judgement:
    """Enclosures of a box in every form, of its halves, of points, and the minimum over it."""
    q, p = problem(d, rows=0.0, whole=0.0)
    with refusing():
        found = {form: infimum.enclose(q.fun, q.box, form=form) for form in _FORMS}
        i = d.whole(0, q.n - 1)
        lo, hi = q.bounds[i]
        at = inside(d, lo, hi, False)
        half = infimum.enclose(q.fun, [*q.box[:i], (q.box[i][0], max(at, up(lo))), *q.box[i + 1:]], form=d.one_of(_FORMS))
        result = infimum.minimize(q.fun, q.box, **SETTINGS)
    wrong = ""
    for form, one in found.items():
        for name, other in (*found.items(), ("of a part", half)):
            if not one.empty and not other.empty and (one.lo > other.hi or other.lo > one.hi):
                wrong = wrong or f"{form} {one} and {name} {other} have nothing in common"
        if result.upper < one.lo or (result.lower > one.hi and not one.empty) or (one.empty and result.upper < _INF):
            wrong = wrong or f"{form} {one}, and the minimum is in [{result.lower!r}, {result.upper!r}]"
        for point in (p, *points(d, q, 8).T.tolist()):
            v = q.feasible_value(point)
            if v is not None and _misses(v, one.lo, one.hi):
                wrong = wrong or f"{form} {one} does not hold {v.str(17)} at {point!r}"
    said = wrong and f"{wrong}\n{q.snippet('enclose')}"
    return Judgement(not found["natural"].empty or result.verdict.name == "INFEASIBLE", said, result.verdict.name)
