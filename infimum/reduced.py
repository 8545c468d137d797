"""Variables whose bounds are equal are no variables: problems without them, and results in which they are back."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from infimum.cover import Cover
from infimum.evaluate import Evaluator
from infimum.expr.build import build, reshape, substituted
from infimum.expr.exponents import with_fixed_exponents, with_whole_exponents
from infimum.expr.fix import Fixing
from infimum.expr.node import Expr, between, topological, var
from infimum.expr.ops import Kind
from infimum.expr.rewriting import step
from infimum.expr.system import System
from infimum.lower.at_point import enclose_at_point
from infimum.minimisers import Minimisers
from infimum.problem import Problem
from infimum.result import Answering, Result
from infimum.start_boxes import StartBoxes
from infimum.unions import Unions

_MANY = 1 << 12  # variables, of which a few are held as well as not
_PART = 2  # where arrays hold both kinds, one in so many variables must be fixed: slices of x are easier to prove than others


class Reduced(Evaluator):
    """An Evaluator's function of the variables numbered in `free`, the others having the values (n)."""

    def __init__(self, whole: Evaluator, values: np.ndarray, free: np.ndarray):
        self.values, self.free, own = values, free, whole.system
        fixing = Fixing(var("x", (whole.n,)), values, free)
        roots = fixing([whole.f, *(() if own is None else own.bodies)])
        self.mixed, (f, *bodies) = fixing.mixes(roots), _with_constants(roots)
        system = None
        if own is not None:
            integers = tuple(int(i) for i in np.flatnonzero(np.isin(free, own.integers)))
            system = System(f, tuple(bodies), own.lower, own.upper, integers, own.labels) if bodies or integers else None
        super().__init__(f, len(free), whole.backend, None if whole.fun is None else lambda y: whole.fun(self.whole(y)), system)

    def whole(self, points: np.ndarray) -> np.ndarray:
        """Points (k, ...) with all variables (n, ...)."""
        found = np.empty((len(self.values), *points.shape[1:]))
        found.T[...] = self.values
        found[self.free] = points
        return found


def _free(problem: Problem) -> np.ndarray:
    """The variables that are not fixed; all of them where a start box does not have the values of the others, being no whole
    numbers."""
    held, start = np.flatnonzero(problem.lo == problem.hi), problem.start
    if start is not None and not ((start.lo[held].T <= problem.lo[held]) & (problem.lo[held] <= start.hi[held].T)).all():
        held = held[:0]
    return np.delete(np.arange(len(problem.lo)), held)


@step("fixed variables", lambda problem, evaluator: None)
def _reduced(problem: Problem, evaluator: Evaluator) -> Reduced | None:
    """The function without the variables that are fixed; None if there are none, or if arrays of both kinds would have to be put
    together while few are fixed."""
    free, n = _free(problem), len(problem.lo)
    fixed = n - len(free)
    few = _PART * fixed < n
    if not fixed or not len(free) or (few and n > _MANY):
        return None
    found = Reduced(evaluator, problem.lo, free)
    return None if few and found.mixed else found


@step("constant parts", lambda roots: roots)
def _with_constants(roots: list[Expr]) -> list[Expr]:
    """The expressions with numbers that read no variable evaluated, as tight enclosures. What is enclosed alike is taken for one
    number: so a number stays as it is written where another one has its enclosure."""
    constant, new, nodes, tops = {}, {}, list(topological(roots)), set(roots)
    taken = {_size(*ends): None for node in nodes if node.op == "const" and node.lo is not node.hi
             for ends in zip(node.lo.flat, node.hi.flat, strict=True)}
    for node in nodes:
        constant[node] = node.op != "var" and all(constant[a] for a in node.args)
        for part in node.args if not constant[node] else [node] if node in tops else ():
            if constant[part] and part.op != "const" and part.kind is not Kind.TEST and not part.shape and part not in new:
                ends = enclose_at_point(part, np.zeros(0))
                known = ends is not None and (ends[0] == ends[1] or taken.setdefault(_size(*ends), part) is part)
                new[part] = between(*ends) if known else part
    return [substituted(root, new) for root in roots]


def _size(lo: float, hi: float) -> tuple[float, float]:
    """The same for a number and its negative."""
    return (float(lo), float(hi)) if lo + hi >= 0 else (-float(hi), -float(lo))


def _with_exponents(problem: Problem, evaluator: Evaluator) -> Evaluator:
    """The function and its constraints, with what the bounds tell of exponents."""
    system, free, n, backend = evaluator.system, _free(problem), evaluator.n, evaluator.backend
    roots = [evaluator.f, *(() if system is None else system.bodies)]

    def may_be_negative(base: Expr) -> bool:
        least = build("amin", reshape(base, (base.size,)), axes=(0,))
        return not Evaluator(least, n, backend).value(problem.lo, problem.hi).lo >= 0
    known = roots if len(free) == n else with_fixed_exponents(roots, var("x", (n,)), problem.lo, free)
    known = known if system is None else with_whole_exponents(known, system.integers, may_be_negative)
    if all(new is old for new, old in zip(known, roots, strict=True)):
        return evaluator
    f, *bodies = known
    system = None if system is None else replace(system, f=f, bodies=tuple(bodies))
    return Evaluator(f, n, backend, evaluator.fun, system)


def without_fixed(problem: Problem, evaluator: Evaluator, reduces: bool = True) -> tuple[Problem, Evaluator]:
    """The problem with its constraints, and the function: if it `reduces`, of the free variables alone where some are fixed."""
    evaluator = _with_exponents(problem, evaluator)
    found, start = _reduced(problem, evaluator) if reduces else None, problem.start
    if found is None:
        return replace(problem, system=evaluator.system), evaluator
    free = found.free
    small = replace(problem, lo=problem.lo[free], hi=problem.hi[free], x0=None if problem.x0 is None else problem.x0[free],
                   start=None if start is None else StartBoxes(start.lo[free], start.hi[free]), system=found.system)
    return small, found


class Restoring:
    """An engine that works with the free variables; the best point has all of them."""

    def __init__(self, engine: Any, evaluator: Reduced):
        self._engine, self._evaluator = engine, evaluator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @property
    def x(self) -> np.ndarray | None:
        return None if self._engine.x is None else self._evaluator.whole(self._engine.x)


def restored(result: Result, evaluator: Reduced) -> Result:
    """The result with all variables."""
    whole = evaluator.whole

    def known(x: Any) -> Any:
        return None if x is None else tuple(map(whole, x)) if isinstance(x, tuple) else whole(x)
    return replace(
        result, x=known(result.x), feasible=known(result.feasible), regions=_cover(result, evaluator),
        boxes=None if result.boxes is None else [known(box) for box in result.boxes],
        minima=[replace(m, x=whole(m.x)) for m in result.minima],
        question=None if result.question is None else _Asked(result, lambda r: _minimisers(r, evaluator)),
        inquiry=None if result.inquiry is None else _Asked(result, lambda r: r.constraints))


def _cover(result: Result, evaluator: Reduced) -> Cover | None:
    """The regions; only a number of them stays what it is."""
    cover, above = result.regions, result.maximised
    if cover is None or (cover.unions is None and not cover.kept):
        return cover
    if cover.unions is not None:
        ends = [[(value, value)] for value in evaluator.values.tolist()]
        for k, i in enumerate(evaluator.free):
            ends[i] = cover.unions[k]
        found = Cover.product(Unions.of(ends), 0.0 - result.upper if above else result.lower)
    else:
        found = Cover(evaluator.whole(cover.lo.T), evaluator.whole(cover.hi.T), 0.0 - cover.upper if above else cover.lower)
    return found.opposite() if above else found


def _minimisers(result: Result, evaluator: Reduced) -> Minimisers | None:
    found = result.minimisers
    if found is None:
        return None
    boxes = [replace(m, lo=evaluator.whole(m.lo), hi=evaluator.whole(m.hi)) for m in found]
    return Minimisers(boxes, found.rest, found.why, "maximiser" if result.maximised else "minimiser")


class _Asked(Answering):
    """Asks a result with the free variables."""

    def __init__(self, result: Result, answer: Callable[[Result], Any]):
        self.result, self.answer = result, answer

    @property
    def is_quick(self) -> bool:
        return self.result.question is not None and self.result.question.is_quick

    def __call__(self, _: Any) -> Any:
        return self.answer(self.result)
