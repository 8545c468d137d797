"""Comparisons that the user's function returns, as bodies between ends: `lambda x: x[0] + x[1] >= 12`; and how ends are read."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, NamedTuple, NoReturn

import numpy as np

from infimum.errors import BoundsError, ShapeError
from infimum.expr.build import build, ends_of
from infimum.expr.node import Expr, Shape, const, is_number, topological
from infimum.expr.real import Real, doubles_around
from infimum.support.given_numbers import fraction, shown
from infimum.trace.refusals import CHOOSING
from infimum.trace.trace import home
from infimum.trace.tracer import Tracer
from infimum.trace.user_source import form_error

_WHOLE = ("reshape", "broadcast", "transpose", "concat", "amin")  # 1 if all elements are, and no element is left out
_SOME = "For `g <= 0 or h <= 0` write np.minimum(g, h) <= 0."
_EXAMPLE = "a constraint is a comparison, such as `lambda x: x[0] + x[1] >= 12`"


class Comparison(NamedTuple):
    """body compared with ends that are doubles, element by element; `text` is what the user wrote, if that is at hand. strict: it
    was written with < or >."""

    body: Expr
    lower: np.ndarray
    upper: np.ndarray
    text: str | None
    strict: bool = False


def comparisons(fun: Callable, value: Any, strict: bool = False) -> list[Comparison]:
    """All comparisons in what a constraint returned, which must all hold; with `strict` those with < and > too."""
    return list(_found(fun, value, strict))


@contextmanager
def of_comparisons() -> Iterator[None]:
    """Inside, errors about truth values name what helps in a constraint."""
    token = CHOOSING.set(False)
    try:
        yield
    finally:
        CHOOSING.reset(token)


def _found(fun: Callable, value: Any, strict: bool) -> Iterator[Comparison]:
    if isinstance(value, Tracer) and value.is_truth:
        yield from _tests(value.expr, strict)
    elif isinstance(value, (bool, np.bool_)) or (isinstance(value, np.ndarray) and value.dtype == bool):
        holds = np.asarray(value, dtype=float)
        yield Comparison(const(holds), np.ones(holds.shape), np.full(holds.shape, np.inf), None)  # no equation: never relaxed
    elif isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype == object):
        for part in value if isinstance(value, (list, tuple)) else value.flat:
            yield from _found(fun, part, strict)
    else:
        raise form_error(f"{home(fun)}: {_no_comparison(value)}")


def _no_comparison(value: Any) -> str:
    if value is None:
        return f"The constraint returned None, and {_EXAMPLE}. Is a `return` missing?"
    if isinstance(value, (Tracer, Real, int, float, np.ndarray, np.generic)):
        what = f"an array of numbers of shape {np.shape(value)}" if np.ndim(value) else "a number"
        return f"The constraint returned {what}, and {_EXAMPLE}. Compare it (`... >= 0`), or give its range: " \
               "infimum.Constraint(fun, lb, ub)."
    cure = " Return a list of comparisons instead, [g >= 0 for ...]." if isinstance(value, Iterator) else ""
    return f"The constraint returned a value of type {type(value).__name__}, and {_EXAMPLE}.{cure}"


def _tests(test: Expr, strict: bool) -> Iterator[Comparison]:
    """The comparisons of a test, all of which hold where it does."""
    stack = [test]
    while stack:
        node = stack.pop()
        inner = _all_of(node)
        if node.op == "and":
            stack += reversed(node.args)
        elif inner is not None:
            stack += reversed(inner)
        elif node.op in ("le", "eq") or (strict and node.op == "lt"):
            yield _read(node)._replace(strict=node.op == "lt")
        else:
            _refuse(node)


def _read(node: Expr) -> Comparison:
    """One of a <= b, a < b, a == b: the side that reads x between ends; the difference if both do or one is no double."""
    a, b = node.args
    text = getattr(node.line, "text", None)
    known = ends_of(a), ends_of(b)
    left, right = (None if ends is None or not np.array_equal(*ends) else ends[0] for ends in known)
    endless = np.full(node.shape, np.inf)
    if right is not None:
        return Comparison(a, right if node.op == "eq" else -endless, right, text)
    if left is not None:
        return Comparison(b, left, left if node.op == "eq" else endless, text)
    zero = np.zeros(node.shape)
    if known[0] is not None:  # a number that is no double
        return Comparison(build("sub", b, a, line=node.line), zero, zero if node.op == "eq" else endless, text)
    return Comparison(build("sub", a, b, line=node.line), zero if node.op == "eq" else -endless, zero, text)


def _all_of(node: Expr) -> list[Expr] | None:
    """The tests that np.all and np.stack have joined, as numbers 1 and 0; None if the node is something else."""
    if node.op == "lt" and is_number(node.args[0], 0.5):
        return _joined(node.args[1])
    if node.op == "not" and node.args[0].op == "eq" and is_number(node.args[0].args[1], 0.0):
        return _joined(node.args[0].args[0])
    return None


def _joined(numbers: Expr) -> list[Expr] | None:
    found, stack = [], [numbers]
    while stack:
        node = stack.pop()
        if node.op in _WHOLE:
            stack += reversed(node.args)
        elif node.op == "where" and is_number(node.args[1], 1.0) and is_number(node.args[2], 0.0):
            found.append(node.args[0])
        else:
            return None
    return found


def _counts(numbers: Expr) -> bool:
    """Are they 1 and 0 for tests that hold or not?"""
    return any(node.op == "where" and is_number(node.args[1], 1.0) for node in topological([numbers]))



def _refuse(node: Expr) -> NoReturn:
    text = getattr(node.line, "text", None)
    place = "" if not node.line else f"{node.line}{f', in `{text}`' if text else ''}: "
    raise form_error(place + _cure(node))


def _cure(node: Expr) -> str:
    if node.op == "lt" and is_number(node.args[0], 0.5) and \
            any(part.op == "amax" and _counts(part) for part in topological([node])):
        return f"A constraint must be a comparison, and np.any of comparisons is none. {_SOME}"
    if node.op == "lt":
        return "A constraint with < or > leaves out its own boundary, where minimisers lie. Write <= or >=."
    if node.op == "or":
        return f"A constraint must be a comparison, and | of comparisons is none. {_SOME}"
    if node.op == "not" and node.args[0].op == "eq" and not _counts(node.args[0].args[0]):
        return "A constraint with != leaves out single points, which no proof can tell from those around them. Leave it out."
    if node.op == "not" and node.args[0].op in ("le", "lt"):
        return "A constraint must be a comparison, and ~ of one is strict. Write the opposite comparison with <= or >=."
    return "A constraint must be a comparison, and this is made of several. Return them in a list, without picking some of them."


_SIDES = ("lower", "upper")


class ConstraintEnds(NamedTuple):
    """Numbers between the doubles lo and hi, element by element; the same array where they are doubles. `given` are the numbers
    themselves."""

    lo: np.ndarray
    hi: np.ndarray
    given: np.ndarray

    @property
    def exact(self) -> bool:
        return self.lo is self.hi

    def flat(self) -> "ConstraintEnds":
        lo = self.lo.reshape(-1)
        return ConstraintEnds(lo, lo if self.exact else self.hi.reshape(-1), self.given.reshape(-1))

    def at(self, which: np.ndarray) -> "ConstraintEnds":
        lo = self.lo[which]
        return ConstraintEnds(lo, lo if self.exact else self.hi[which], self.given[which])


def same(lower: ConstraintEnds, upper: ConstraintEnds) -> np.ndarray:
    """Which elements of flat ends are certainly one number."""
    return np.array([a is b or (fraction(a) is not None and fraction(a) == fraction(b))
                     for a, b in zip(lower.given, upper.given, strict=True)], bool)


def read_ends(lb: Any, ub: Any, shape: Shape) -> tuple[ConstraintEnds, ConstraintEnds]:
    """Lower and upper ends of the elements of an array, each broadcast to its shape as SciPy does."""
    lower, upper = _side(lb, 0, shape), _side(ub, 1, shape)
    wrong = (lower.lo > upper.hi) | (lower.lo == np.inf) | (upper.hi == -np.inf)
    if not (lower.exact and upper.exact):  # reversed by less than doubles tell
        wrong |= np.array([None not in (p := (fraction(a), fraction(b))) and p[0] > p[1] for a, b in
                           zip(lower.given.reshape(-1), upper.given.reshape(-1), strict=True)], bool).reshape(shape)
    for k in np.flatnonzero(wrong)[:1]:
        low, high = float(lower.lo.flat[k]), float(upper.hi.flat[k])
        endless = math.isinf(low) and low == high
        what = f"a point at infinity: ({low!r}, {high!r}) holds no number" if endless else \
            f"reversed: {shown(lower.given.flat[k])} > {shown(upper.given.flat[k])}"
        raise BoundsError(f"the ends of {_element(k, shape)} are {what}")
    return lower, upper


def _side(given: Any, side: int, shape: Shape) -> ConstraintEnds:
    whole = isinstance(given, np.ndarray) and given.dtype == np.float64
    try:
        values = given if whole else np.array(given, dtype=object)  # an array of mixed numbers would round them
    except ValueError:
        raise ShapeError(f"the {_SIDES[side]} ends are no array: {shown(given)}") from None
    pairs = None if whole else [_number(v, side) for v in values.flat]
    lo = values if pairs is None else np.array([low for low, _ in pairs]).reshape(values.shape)
    hi = lo if pairs is None or all(low == high for low, high in pairs) else \
        np.array([high for _, high in pairs]).reshape(values.shape)
    for k in np.flatnonzero(np.isnan(lo))[:1]:
        raise BoundsError(f"the {_SIDES[side]} end of {_element(k, values.shape)} is NaN")
    if not shape and values.size == 1:  # SciPy takes a number for an array of one
        lo, hi = (lo.reshape(()),) * 2 if hi is lo else (lo.reshape(()), hi.reshape(()))
        values = values.reshape(())
    try:
        first = np.broadcast_to(lo, shape)
        return ConstraintEnds(first, first if hi is lo else np.broadcast_to(hi, shape), np.broadcast_to(values, shape))
    except ValueError:
        raise ShapeError(f"the constraint has the shape {shape}, and its {_SIDES[side]} ends have the shape {values.shape}: give "
                         "one number, or one for each element") from None


def _element(k: int, shape: Shape) -> str:
    return f"element {int(k)}" if shape else "the constraint"


def _number(value: Any, side: int) -> tuple[float, float]:
    """Two doubles around one end, equal if it is a double."""
    if isinstance(value, Real):
        return value.ends
    value = value.item() if isinstance(value, np.generic) and not isinstance(value, np.longdouble) else value
    if isinstance(value, float):
        return value, value
    try:
        exact = None if isinstance(value, bool) else fraction(value)
        if exact is None and isinstance(value, (Decimal, np.longdouble)):  # infinite, NaN
            return float(value), float(value)
    except (OverflowError, ValueError) as error:  # an absurd exponent, or a NaN that signals
        raise BoundsError(f"the {_SIDES[side]} end is no number that can be compared: {error}") from None
    if exact is None:
        raise BoundsError(f"the {_SIDES[side]} end is {shown(value)}, which is not a real number")
    lo, hi = doubles_around(exact)
    if math.isinf(lo) or math.isinf(hi):
        raise BoundsError(f"the {_SIDES[side]} end is too large for a double: write inf, or rescale the constraint")
    return lo, hi
