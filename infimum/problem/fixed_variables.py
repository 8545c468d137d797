"""Variables whose bounds are equal are no variables: problems without them, and results in which they are back.

So are those that have at most one double between bounds that are none. Such a variable is a number known between two doubles,
as infimum.pi is: what is proved holds for each number that it may be.

Proof: docs/proofs/exact_bounds.md.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import build, reshape, substituted
from infimum.expr.fixing import VariableFixing
from infimum.expr.node import Expr, between, topological, var
from infimum.expr.point_value import enclose_at_point
from infimum.expr.real import Real, doubles_around, told_apart
from infimum.expr.real_name import ExactName
from infimum.expr.rewriting_switches import step
from infimum.ops.vocabulary import Kind
from infimum.problem.cover import Cover
from infimum.problem.minimisers import Minimisers
from infimum.problem.problem import Problem
from infimum.problem.system import System
from infimum.problem.unions import Unions
from infimum.problem.variable_bounds import End, end_of
from infimum.result import Answering, Result
from infimum.structure.known_exponents import with_fixed_exponents, with_whole_exponents

_MANY = 1 << 12  # variables, of which a few are held as well as not
_PART = 2  # where arrays hold both kinds, one in so many variables must be fixed: slices of x are easier to prove than others


class Fixed(NamedTuple):
    """The values (n) of variables that are fixed: numbers from `low` to `high`, which lie in the constants from `lower` to
    `upper`, and `shown` as the doubles of a point. All are the same where the values are doubles. `unknown` are the variables of
    which it is not known which number they are."""

    shown: np.ndarray
    low: np.ndarray
    high: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    unknown: tuple[int, ...] = ()

    @classmethod
    def at(cls, values: np.ndarray) -> "Fixed":
        """At doubles."""
        return cls(*(values,) * 5)

    @classmethod
    def of(cls, problem: Problem) -> "Fixed":
        """The values of all variables of a problem that are fixed or narrow."""
        at = np.flatnonzero(problem.narrow)
        if not len(at):
            return cls.at(problem.lo)
        low, high = problem.region
        found, unknown = cls(problem.lo.copy(), low, high, low.copy(), high.copy()), []
        for i in at.tolist():
            one, other = (problem.ends.get((i, side)) for side in (0, 1))
            number = one.number if one is not None and other is not None and one.is_the_same_as(other) else None
            if isinstance(number, (Real, Fraction)):
                ends = number.ends if isinstance(number, Real) else doubles_around(number)
            else:
                unknown.append(i)
                ends = _told_apart(("a variable", i, float(low[i]), float(high[i])), float(low[i]), float(high[i]))
            found.lower[i], found.upper[i] = ends
            nearest = float(number) if isinstance(number, Fraction) else low[i]
            found.shown[i] = problem.lo[i] if problem.lo[i] == problem.hi[i] else nearest
        return found._replace(unknown=tuple(unknown))


def end_to_store(end: End) -> Any:
    """An end that is no double, in the terms of JSON: a fraction as text, a Real by the doubles around it and its name; None
    where no more than these doubles is known."""
    if isinstance(end.number, Fraction):
        return str(end.number)
    if not isinstance(end.number, Real):
        return None
    name = end.number.name
    return [end.down, end.up, [list(power) for power in name.powers], str(name.factor), str(name.shift)]


def stored_end(stored: Any) -> End:
    """The same back again."""
    if isinstance(stored, str):
        numerator, _, denominator = stored.partition("/")
        return end_of(Fraction(int(numerator), int(denominator or 1)))
    lo, hi, powers, factor, shift = stored
    number = Real(lo, hi, ExactName(tuple((symbol, power) for symbol, power in powers), Fraction(factor), Fraction(shift)))
    return End(lo, hi, number, number.is_irrational)


def _told_apart(name: tuple, lo: float, hi: float) -> tuple[float, float]:
    """Doubles around an unknown number, as `told_apart`, and for its negative the negatives of these."""
    if lo + hi >= 0:
        return told_apart(name, lo, hi)
    low, high = told_apart(name, -hi, -lo)
    return -high, -low


class Reduced(Evaluator):
    """An Evaluator's function of the variables numbered in `free`, the others having fixed values. Where none is free, it is one
    of a variable that it does not read."""

    def __init__(self, whole: Evaluator, fixed: Fixed, free: np.ndarray):
        self.fixed, self.free, own = fixed, free, whole.system
        fixing = VariableFixing(var("x", (whole.n,)), fixed.lower, fixed.upper, free)
        roots = fixing([whole.f, *(() if own is None else own.bodies)])
        self.mixed, (f, *bodies) = fixing.mixes(roots), _with_constants(roots)
        system = None
        if own is not None:
            integers = tuple(int(i) for i in np.flatnonzero(np.isin(free, own.integers)))
            system = System(f, tuple(bodies), own.lower, own.upper, integers, own.labels) if bodies or integers else None
        super().__init__(f, max(1, len(free)), whole.backend, None if whole.fun is None else lambda y: whole.fun(self.whole(y)),
                         system)

    def whole(self, points: np.ndarray, side: int = -1) -> np.ndarray:
        """Points (k, ...) with all variables (n, ...); with a `side`, those are the lower ends (0) or the upper ends (1) of
        boxes."""
        found = np.empty((len(self.fixed.shown), *points.shape[1:]))
        found.T[...] = self.fixed.shown if side < 0 else self.fixed[1 + side]
        found[self.free] = points[:len(self.free)]
        return found

    def box(self, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Boxes with all variables."""
        return self.whole(lo, 0), self.whole(hi, 1)

    @property
    def is_exact(self) -> bool:
        """Are all fixed values doubles?"""
        return self.fixed.low is self.fixed.high


def _held(problem: Problem) -> np.ndarray:
    """The variables that are fixed at doubles; none where a start box does not have their values, being no whole numbers."""
    held, start = np.flatnonzero((problem.lo == problem.hi) & ~problem.narrow), problem.start
    if start is not None and not ((start.lo[held].T <= problem.lo[held]) & (problem.lo[held] <= start.hi[held].T)).all():
        return held[:0]
    return held


def _reduced(problem: Problem, evaluator: Evaluator, reduces: bool) -> Reduced | None:
    """The function without variables that are narrow and, if it `reduces`, without those that are fixed at doubles; None where
    all stay."""
    narrow, held = problem.narrow, _held(problem)
    found = _without_both(problem, evaluator, held) if reduces and len(held) else None
    return Reduced(evaluator, Fixed.of(problem), np.flatnonzero(~narrow)) if found is None and narrow.any() else found


@step("fixed variables", lambda problem, evaluator, held: None)
def _without_both(problem: Problem, evaluator: Evaluator, held: np.ndarray) -> Reduced | None:
    """None if no variable would be left, or if arrays of both kinds would have to be put together while few are fixed."""
    n = len(problem.lo)
    free, few = np.setdiff1d(np.flatnonzero(~problem.narrow), held, assume_unique=True), _PART * len(held) < n
    if not len(free) or (few and n > _MANY):
        return None
    found = Reduced(evaluator, Fixed.of(problem), free)
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
    system, held, n, backend = evaluator.system, _held(problem), evaluator.n, evaluator.backend
    roots = [evaluator.f, *(() if system is None else system.bodies)]

    def may_be_negative(base: Expr) -> bool:
        least = build("amin", reshape(base, (base.size,)), axes=(0,))
        return not Evaluator(least, n, backend).value(*problem.region).lo >= 0
    free, point = np.delete(np.arange(n), held), np.where(np.isfinite(problem.lo), problem.lo, 0.0)
    known = roots if not len(held) else with_fixed_exponents(
        roots, var("x", (n,)), problem.lo, free, lambda exponent: enclose_at_point(exponent, point))
    known = known if system is None else with_whole_exponents(known, system.integers, may_be_negative)
    if all(new is old for new, old in zip(known, roots, strict=True)):
        return evaluator
    f, *bodies = known
    system = None if system is None else replace(system, f=f, bodies=tuple(bodies))
    return Evaluator(f, n, backend, evaluator.fun, system)


def without_fixed(problem: Problem, evaluator: Evaluator, reduces: bool = True) -> tuple[Problem, Evaluator]:
    """The problem with its constraints, and the function: if it `reduces`, of the free variables alone where some are fixed, and
    of those that are not narrow in any case."""
    evaluator = _with_exponents(problem, evaluator)
    found, start = _reduced(problem, evaluator, reduces), problem.start
    if found is None:
        return replace(problem, system=evaluator.system), evaluator
    free = found.free
    if not len(free):
        return Problem(problem.fun, np.zeros(1), np.zeros(1), system=found.system), found
    lo, hi, outer = problem.lo[free], problem.hi[free], problem.outer and problem.outer.at(free)
    small = replace(problem, lo=lo, hi=hi, x0=None if problem.x0 is None else problem.x0[free],
                    start=None if start is None else start.of_variables(free), system=found.system,
                    outer=outer and outer.unless(lo, hi), ends={})
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
    x, feasible, box = result.x, result.feasible, evaluator.box
    if feasible is not None and not evaluator.is_exact:
        feasible = box(*(feasible if isinstance(feasible, tuple) else (feasible,) * 2))
    elif feasible is not None:
        feasible = box(*feasible) if isinstance(feasible, tuple) else evaluator.whole(feasible)
    return replace(
        result, x=None if x is None else evaluator.whole(x), feasible=feasible, regions=_cover(result, evaluator),
        boxes=None if result.boxes is None else [box(*one) for one in result.boxes],
        minima=[replace(m, x=evaluator.whole(m.x)) for m in result.minima],
        attained=None if evaluator.fixed.unknown else result.attained,
        message="; ".join([result.message, *_notes(evaluator)]),
        question=None if result.question is None else _Asked(result, lambda r: _minimisers(r, evaluator)),
        inquiry=None if result.inquiry is None else _Asked(result, lambda r: r.constraints))


def _notes(evaluator: Reduced) -> list[str]:
    """What is to be said of variables that have no double, or one, between bounds that are none."""
    low, high = evaluator.fixed.low, evaluator.fixed.high
    return [f"x[{i}] is a number between {float(low[i])!r} and {float(high[i])!r}, as its bounds are: all is said of each number "
            "there" for i in np.flatnonzero(low < high) if i not in evaluator.free] if not evaluator.is_exact else []


def _cover(result: Result, evaluator: Reduced) -> Cover | None:
    """The regions; only a number of them stays what it is."""
    cover, above, fixed = result.regions, result.maximised, evaluator.fixed
    if cover is None or (cover.unions is None and not cover.kept):
        return cover
    if cover.unions is not None:
        ends = [[pair] for pair in zip(fixed.low.tolist(), fixed.high.tolist(), strict=True)]
        for k, i in enumerate(evaluator.free):
            ends[i] = cover.unions[k]
        found = Cover.product(Unions.of(ends), 0.0 - result.upper if above else result.lower)
    else:
        found = Cover(*evaluator.box(cover.lo.T, cover.hi.T), 0.0 - cover.upper if above else cover.lower)
    return found.opposite() if above else found


def _minimisers(result: Result, evaluator: Reduced) -> Minimisers | None:
    found, word = result.minimisers, "maximiser" if result.maximised else "minimiser"
    if found is None:
        return None
    if evaluator.fixed.unknown:
        why = f"x[{evaluator.fixed.unknown[0]}] is not known exactly, only between two neighbouring doubles"
        return Minimisers((), max(1, len(found) + found.rest), why, word)
    boxes = []
    for m in found:
        lo, hi = evaluator.box(m.lo, m.hi)
        boxes.append(replace(m, lo=lo, hi=hi))
    return Minimisers(boxes, found.rest, found.why, word)


class _Asked(Answering):
    """Asks a result with the free variables."""

    def __init__(self, result: Result, answer: Callable[[Result], Any]):
        self.result, self.answer = result, answer

    @property
    def is_quick(self) -> bool:
        return self.result.question is not None and self.result.question.is_quick

    def __call__(self, _: Any) -> Any:
        return self.answer(self.result)
