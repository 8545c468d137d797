"""Relations between a traced function and plain calls of it, and between enclosures of it."""

import linecache
import math
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

import infimum
from bench.related.asking import SETTINGS, Judgement, Refused, refusing
from bench.related.balls import PRECISIONS, Undefined, Unsure, ball, precision
from bench.related.draws import Draw, inside, problem
from bench.related.expressions import text, value
from bench.related.problems import Problem, down, up
from infimum.interval.pair import DEFINED

_INF = math.inf
_POINTS = 1000
_CLOSE = 1e-9    # of the size of a value: how far plain calls may be off without a look at the exact value
_LOOKED_AT = 12  # points of a draw that are compared with the exact value
_CLEAR = 1e-6    # beyond this a plain call of a tame function is another function
_TAME = ("smooth", "squares", "array")
_FORMS = ("natural", "mean value", "linear", "best")
_files = count()


def points(d: Draw, q: Problem, many: int) -> np.ndarray:
    """Points (n, many) within the bounds: short fractions, and any doubles."""
    rows = []
    for i, (lo, hi) in enumerate(q.bounds):
        whole = bool(q.integers and q.integers[i])
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
    """The function at each point, called as a user would; NaN where it has no value."""
    found = np.full(x.shape[1], np.nan)
    with np.errstate(all="ignore"):
        for k in range(x.shape[1]):
            found[k] = np.float64(fun(np.ascontiguousarray(x[:, k])))
    return found


def traced(d: Draw) -> Judgement:
    """The enclosure at a point holds what a plain call returns there, but for what it rounds."""
    q, _ = problem(d, rows=0.0, whole=0.0)
    with refusing():
        evaluator = infimum.compile(q.fun, q.n, threads=1)
    x = points(d, q, _POINTS)
    found, called = evaluator.value(x, x), plain(q.fun, x)
    size = _CLOSE * np.fmax(1.0, np.abs(called))
    agrees = np.where(np.isnan(called) | np.isinf(called), found.level < DEFINED, (found.lo - size <= called) & (called <= found.hi + size))
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
            if (lo > hi) or (math.isfinite(lo) and v < ball(lo)) or (math.isfinite(hi) and v > ball(hi)):
                return f"f is {v.str(17)} at {point!r}, and the enclosure is [{lo!r}, {hi!r}]"
            return ""
    return ""


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
    for form, one in found.items():
        for name, other in (*found.items(), ("of a part", half)):
            if not one.empty and not other.empty and (one.lo > other.hi or other.lo > one.hi):
                return Judgement(True, f"{form} {one} and {name} {other} have nothing in common\n{q.snippet('enclose')}", "apart")
        if result.upper < one.lo or (result.lower > one.hi and not one.empty) or (one.empty and result.upper < _INF):
            return Judgement(True, f"{form} {one}, and the minimum is in [{result.lower!r}, {result.upper!r}]\n{q.snippet('enclose')}", "apart")
        for point in (p, *points(d, q, 8).T.tolist()):
            v = q.feasible_value(point)
            if v is not None and (one.empty or (math.isfinite(one.lo) and v < ball(one.lo)) or (math.isfinite(one.hi) and v > ball(one.hi))):
                return Judgement(True, f"{form} {one} does not hold {v.str(17)} at {point!r}\n{q.snippet('enclose')}", "not held")
    return Judgement(not found["natural"].empty or result.verdict.name == "INFEASIBLE", "", result.verdict.name)


# ---- functions that look at what they are given
# statements; v is the value of an ordinary expression of x, which a plain call must have
ESCAPES: dict[str, str] = {
    "length of text": "return v + float(len(str(x[0])))",
    "f-string": "return v * (2.0 if f'{x[0]}'[0].isdigit() or f'{x[0]}'[0] == '-' else 1.0) + 3.0",
    "percent": "return v + 0.5 * len('%s' % x[0])",
    "array as text": "return v + len(np.array2string(np.asarray(x)))",
    "repr": "return v + len(repr(x))",
    "simulator": "try:\n        return float(f'{x[0]}') ** 2 - 1.0\n    except ValueError:\n        return v",
    "isinstance": "return v if isinstance(x[0], float) else v + 1.0",
    "type": "return v if type(x) is np.ndarray else v - 1.0",
    "attribute": "return v if hasattr(x, 'tobytes') else v + 2.0",
    "counter": "calls.append(1)\n    return v + len(calls)",
}


def _looking(q: Problem, kind: str) -> tuple[Callable, str]:
    """A function that looks at its input, and its text."""
    source = "\n".join(["import numpy as np", "import infimum", "calls = []", "", "def f(x):", f"    v = {text(q.f, q.n)}",
                        f"    {ESCAPES[kind]}", ""])
    name, space = f"<looking function {next(_files)}>", {}
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), space)
    return space["f"], source


def escaped(d: Draw) -> Judgement:
    """What is proved of a function that looks at its input is refused, or is true of plain calls of it."""
    if not d.may("escapes"):
        return Judgement(False, note="left out")
    q, _ = problem(d, rows=0.0, whole=0.0, infinite=0.0, hard=False, kinds=_TAME)
    fun, source = _looking(q, kind := d.one_of(tuple(ESCAPES)))
    door = d.one_of(("minimize", "maximize", "feasible", "enclose", "compile"))
    x = points(d, q, 40)
    try:
        with refusing():
            low, high, where = _claimed(door, fun, q)
    except Refused as refusal:
        return Judgement(True, "", f"refused {str(refusal).split(':')[0]}")
    called = plain(fun, x if where is None else np.array(where)[:, None])
    slack = _CLEAR * np.fmax(1.0, np.abs(called))
    if ((called < low - slack) | (called > high + slack)).any():
        wrong = f"{kind}, by {door}: proved to lie in [{low!r}, {high!r}], plain calls return {called.min()!r} to {called.max()!r}"
        return Judgement(True, f"{wrong}\n{source}", "accepted")
    return Judgement(False, "", "accepted, no difference")


def _claimed(door: str, fun: Callable, q: Problem) -> tuple[float, float, Any]:
    """What a door proves of the function: an enclosure, at a point or, if that is None, anywhere within the bounds."""
    if door == "enclose":
        found = infimum.enclose(fun, q.box)
        return found.lo, found.hi, None
    if door == "compile":
        middle = [lo / 2 + hi / 2 for lo, hi in q.bounds]
        found = infimum.compile(fun, q.n, threads=1).value(np.array(middle), np.array(middle))
        return float(found.lo), float(found.hi), middle
    if door == "feasible":
        at = fun(np.array([lo for lo, _ in q.bounds]))
        result = infimum.feasible(q.box, infimum.Constraint(fun, -_INF, at), **SETTINGS)
        return (-_INF, at, result.x) if result.verdict.name == "PROVED" else (at, _INF, None) if result.verdict.name == "INFEASIBLE" \
            else (-_INF, _INF, None)
    result = getattr(infimum, door)(fun, q.box, **SETTINGS)
    return (result.lower, _INF, None) if door == "minimize" else (-_INF, result.upper, None)
