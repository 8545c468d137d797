"""Functions that look at what they are given, by text, type or counting: what is proved of them must be true of plain calls."""

import json
import linecache
import math
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import infimum
from bench.related.asking import SETTINGS, Judgement, Refused, refusing
from bench.related.draws import Draw, problem
from bench.related.expressions import text
from bench.related.problems import Problem
from bench.related.runs import USAGE, shell
from bench.related.traces import plain, points

_INF = math.inf
_POINTS = 40
_CLEAR = 1e-6  # of the size of a value: beyond this a plain call of a tame function is no rounding error
_TAME = ("smooth", "squares", "array")
_FAR = -1e3    # what data are that a function is fitted to
_files = count()

# statements; v is the value of an ordinary expression of x
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


class Claim(NamedTuple):
    """What is proved: values lie between these, at the point `at` or, if that is None, everywhere within the bounds."""

    low: float
    high: float
    at: Any = None


def defined(source: str) -> dict[str, Any]:
    """The names that a program defines."""
    name, space = f"<looking function {next(_files)}>", {}
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), space)
    return space


# ---- doors
def _minimize(source: str, q: Problem) -> Claim:
    return Claim(infimum.minimize(defined(source)["f"], q.box, **SETTINGS).lower, _INF)


def _maximize(source: str, q: Problem) -> Claim:
    return Claim(-_INF, infimum.maximize(defined(source)["f"], q.box, **SETTINGS).upper)


def _enclose(source: str, q: Problem) -> Claim:
    found = infimum.enclose(defined(source)["f"], q.box)
    return Claim(found.lo, found.hi)


def _compile(source: str, q: Problem) -> Claim:
    middle = [lo / 2 + hi / 2 for lo, hi in q.bounds]
    found = infimum.compile(defined(source)["f"], q.n, threads=1).value(np.array(middle), np.array(middle))
    return Claim(float(found.lo), float(found.hi), middle)


def _feasible(source: str, q: Problem) -> Claim:
    """A constraint that holds at one corner."""
    fun = defined(source)["f"]
    at = float(fun(np.array([lo for lo, _ in q.bounds])))
    result = infimum.feasible(q.box, infimum.Constraint(fun, -_INF, at), **SETTINGS)
    if result.verdict.name == "INFEASIBLE":
        return Claim(at, _INF)
    return Claim(-_INF, at, result.x) if result.verdict.name == "PROVED" else Claim(-_INF, _INF)


def _command_line(source: str, q: Problem) -> Claim:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "looking.py")
        path.write_text(source)
        bounds = ";".join(f"{lo!r},{hi!r}" for lo, hi in q.bounds)
        code, out, err = shell("minimize", f"{path}:f", "--json", f"--bounds={bounds}", "--max-boxes=3000")
    if code == USAGE:
        raise Refused(err)
    return Claim(float(json.loads(out)["lower"]), _INF)


def _fit(source: str, q: Problem) -> Claim:
    """The function as a model of data that lie far below it: how near to these it comes at least."""
    t, model = np.arange(q.n + 1.0), defined(source)["model"]
    found = infimum.fit(model, t, np.full(len(t), _FAR), bounds=list(q.bounds), max_boxes=3000, threads=1, progress=False)
    return Claim(math.sqrt(max(found.least.lo, 0.0) / len(t)), _INF)


def _nested(source: str, q: Problem) -> Claim:
    """What is proved of the inner minimum, at the outer point that was found."""
    fun = defined(source)["f"]
    found = infimum.nested(lambda y, z: fun(np.concatenate([y, z])), q.box[:1], q.box[1:], max_trials=2, threads=1,
                           progress=False)
    return Claim(found.trials.inner.lower, found.upper, found.x)


DOORS: dict[str, Callable[[str, Problem], Claim]] = {
    "minimize": _minimize, "maximize": _maximize, "feasible": _feasible, "enclose": _enclose, "compile": _compile,
    "command line": _command_line, "fit": _fit, "nested": _nested}


def escaped(d: Draw) -> Judgement:
    """What is proved of a function that looks at its input is refused, or is true of plain calls of it."""
    if not d.may("escapes"):
        return Judgement(False, note="left out")
    kind, door = d.one_of(tuple(ESCAPES)), d.one_of(tuple(DOORS))
    q, _ = problem(d, rows=0.0, least=2 if door == "nested" else 1, hard=False, kinds=_TAME)
    source = "\n".join(["import numpy as np", "calls = []", "", "def f(x):", f"    v = {text(q.f, q.n)}", f"    {ESCAPES[kind]}",
                        "", "def model(t, *p):", "    return f(np.stack(p)) + 0 * t", ""])
    try:
        with refusing():
            claim = DOORS[door](source, q)
    except Refused as refusal:
        return Judgement(True, "", f"refused: {str(refusal).partition(':')[0]}")
    called = plain(defined(source)["f"], points(d, q, _POINTS) if claim.at is None else np.array(claim.at)[:, None])
    called = np.abs(called - _FAR) if door == "fit" else called
    slack = _CLEAR * np.fmax(1.0, np.abs(called))
    if ((called < claim.low - slack) | (called > claim.high + slack)).any():
        ends = f"{float(called.min())!r} to {float(called.max())!r}"
        told = f"proved to lie in [{claim.low!r}, {claim.high!r}], plain calls return {ends}"
        return Judgement(True, f"{kind}, by {door}: {told}\n{source}", "accepted")
    return Judgement(False, "", "accepted, no difference")
