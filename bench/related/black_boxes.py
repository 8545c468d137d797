"""Relations between trials of black boxes and proofs, between journals and functions, and of nested problems."""

import functools
import math
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import infimum
from bench.related.answers import Answer, against_exact, exact, same_infimum
from bench.related.asking import SETTINGS, Judgement, Refused, ask, refusing
from bench.related.draws import Draw, problem
from bench.related.expressions import text
from bench.related.problems import Problem, double, down, up

_INF = math.inf
_TRIES = 20


class Recording:
    """A function that keeps where it was called."""

    def __init__(self, fun: Callable):
        self.fun, self.points = fun, []

    def __call__(self, x: Any) -> float:
        self.points.append([float(v) for v in x])
        with np.errstate(all="ignore"):
            return double(self.fun(np.array(x, dtype=float)))


def _whole_box(q: Problem) -> list[list[float]]:
    """The values of each variable, all whole."""
    return [[float(v) for v in range(math.ceil(up(lo)), math.floor(down(hi)) + 1)] for lo, hi in q.bounds]


def _is_narrow(ends: tuple[Any, Any]) -> bool:
    """Few doubles lie between them."""
    return 0 < down(ends[1]) - up(ends[0]) < 1e-9


def index(d: Draw) -> Judgement:
    """No value that trials find is below a proved lower bound, and trials of all points find the minimum."""
    few = d.chance(0.4)
    for _ in range(_TRIES):
        q, p = problem(d, infinite=0.0, whole=1.0 if few else 0.2, rows=0.4)
        fits = not few or all(len(v) <= 9 for v in _whole_box(q))
        if fits and (d.may("narrow trials") or not any(map(_is_narrow, q.bounds))):
            break
    q = q.having(rows=tuple(replace(row, compared=False) for row in q.rows if row.lo != row.hi))
    fun, asked = Recording(q.fun), q.arguments
    bounds: list[Any] = list(q.box)
    if few:
        values = _whole_box(q)
        chosen = d.rng.random(q.n) < 0.5
        if not any(q.rows) and all(len(v) > 1 for v in values):  # constraints of choices see their values as they are
            bounds = [v if c else b for v, b, c in zip(values, bounds, chosen, strict=True)]
            asked["integrality"] = [0 if c else 1 for c in chosen]
    proof = ask(q)
    try:
        with refusing():
            found = infimum.minimize(fun, bounds, engine="index", max_trials=900 if few else 40, progress=False, **asked)
    except Refused:
        if fun.points:  # no trial gave a value
            found = None
        else:
            raise
    wrong = against_exact(proof, q, fun.points)
    if not wrong and few and found is not None and proof.verdict == "PROVED" and found.x is not None and proof.upper < 1e6:
        rest = 1e-6 * max(1.0, abs(found.fun))
        if not found.fun - rest <= proof.upper and proof.ended:
            wrong = f"trials of all points find {found.fun!r}, the proof [{float(proof.lower)!r}, {float(proof.upper)!r}]"
    note = f"{proof.verdict} {'nothing' if found is None or found.x is None else 'CANDIDATE'}"
    return Judgement(bool(proof.ended and found is not None and (found.x is not None or proof.verdict == "INFEASIBLE")),
                     wrong and f"{wrong}\n{q.snippet()}", note)


# ---- journals
def _by_partial(c: float) -> Callable:
    return functools.partial(_waves, c=c)


def _by_closure(c: float) -> Callable:
    def fun(x: Any) -> float:
        return _waves(x, c)
    return fun


def _by_default(c: float) -> Callable:
    def fun(x: Any, c: float = c) -> float:
        return _waves(x, c)
    return fun


class _Simulator:
    def __init__(self, c: float):
        self.c = c

    def run(self, x: Any) -> float:
        return _waves(x, self.c)

    def __call__(self, x: Any) -> float:
        return _waves(x, self.c)


def _waves(x: Any, c: float) -> float:
    return float(sum((v - c) ** 2 for v in x) - math.cos(5 * x[0] + c))


def _by_nested_partial(c: float) -> Callable:
    return functools.partial(functools.partial(_waves), c=c)


def _by_list(c: float) -> Callable:
    held = [c]
    return lambda x: _waves(x, held[0])


BINDINGS: dict[str, Callable[[float], Callable]] = {
    "partial": _by_partial, "closure": _by_closure, "default": _by_default, "method": lambda c: _Simulator(c).run,
    "callable object": _Simulator, "partial of a partial": _by_nested_partial, "list in a closure": _by_list}


def journal(d: Draw) -> Judgement:
    """A journal goes on with the same function, bit for bit; what it returns for another one is that one's value, or an error."""
    if not d.may("journals"):
        return Judgement(False, note="left out")
    kind, first = d.one_of(tuple(BINDINGS)), d.whole(0, 9) / 10
    second = first if d.chance(0.4) else d.whole(10, 19) / 10
    bounds = [(-1.0 - d.whole(0, 2), 2.0)] * d.whole(1, 2)
    asked = {"engine": "index", "progress": False}
    few, many = d.whole(5, 15), d.whole(18, 30)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.jsonl")
        infimum.minimize(BINDINGS[kind](first), bounds, journal=path, max_trials=few, **asked)
        fun = BINDINGS[kind](second)
        try:
            with refusing():
                found = infimum.minimize(fun, bounds, journal=path, max_trials=many, **asked)
        except Refused as refusal:
            wrong = f"the journal of the same function is refused: {refusal}" if first == second else ""
            return Judgement(True, wrong and f"{kind}: {wrong}", "refused")
    if fun(found.x) != found.fun:
        asked_first = f"{kind}, c = {first!r} and then {second!r}, bounds {bounds!r}, {few} and {many} trials"
        return Judgement(True, f"{asked_first}: the value is {found.fun!r} at {found.x.tolist()!r}, where the function is "
                               f"{fun(found.x)!r}", "accepted")
    whole = infimum.minimize(fun, bounds, max_trials=many, **asked)
    if first == second and (whole.fun != found.fun or whole.x.tolist() != found.x.tolist()):
        return Judgement(True, f"{kind}: with a journal the value is {found.fun!r}, without one {whole.fun!r}", "other bits")
    return Judgement(True, "", "accepted")


# ---- nested problems
def nested(d: Draw) -> Judgement:
    """What is proved at the outer point, and a proof of all variables together."""
    q, _ = problem(d, rows=0.0, least=2, hard=False, kinds=("smooth", "array", "squares", "steps", "hilly"))
    source = f"import numpy as np\n\ndef fun(y, z):\n    x = np.concatenate([y, z])\n    return {text(q.f, q.n)}\n"
    space: dict[str, Any] = {}
    exec(source, space)
    outer, inner = q.box[:1], q.box[1:]
    with refusing():
        found = infimum.nested(space["fun"], outer, inner, max_trials=d.whole(2, 6), atol=SETTINGS["atol"], rtol=SETTINGS["rtol"],
                               inner_max_boxes=SETTINGS["max_boxes"], threads=1, progress=False)
    if found.x is None:
        return Judgement(False, note="nothing")
    y = float(found.x[0])
    there = Answer(found.trials.inner.verdict, exact(found.trials.inner.lower), exact(found.upper))
    held, whole = ask(q.having(bounds=((y, y), *q.bounds[1:]))), ask(q)
    wrong = same_infimum(held, there)
    if not wrong and there.upper < whole.lower:
        wrong = f"the value {found.upper!r} is below the lower bound {float(whole.lower)!r} of all variables"
    wrong = wrong or against_exact(whole, q, [found.x.tolist()])
    return Judgement(held.ended and there.ended and whole.lower > -_INF, wrong and f"{wrong}\n{source}\n{q.snippet()}",
                     f"{held.verdict} {there.verdict}")
