"""Functions that are convex or concave as their formula tells, in the variables or in their logarithms.

Every element of every operation has a form: how it curves, its sign, and how the logarithm of its absolute value curves, where
that sign is known. The rules are those of disciplined convex programming (M. Grant, S. Boyd, Y. Ye 2006) and, with logarithms,
of geometric programming (A. Agrawal, S. Diamond, S. Boyd 2019): in the logarithms of positive variables, x * y / z has a linear
logarithm, and sums, products, powers and largest ones of functions with convex logarithms have convex ones.

A form holds on a box on all of which everything is defined; whoever uses it makes sure of that.

Proof: docs/proofs/lagrangian.md.
"""

from collections.abc import Callable
from functools import cache, reduce

import numpy as np

from infimum.expr.build import VIEWS
from infimum.expr.node import Expr, topological
from infimum.expr.rewriting_switches import step
from infimum.ops.vocabulary import OPS, Kind
from infimum.problem.system import System
from infimum.search.policy.search import RECOGNITION as POLICY
from infimum.support.lazy import dataclass

CONVEX, CONCAVE, LINEAR = 1, 2, 3  # fixed: bits: linear is both
_NOT_NEGATIVE, _NOT_POSITIVE, _NOT_ZERO = 1, 2, 4  # fixed: bits
_POSITIVE, _NEGATIVE = _NOT_NEGATIVE | _NOT_ZERO, _NOT_POSITIVE | _NOT_ZERO


@dataclass(frozen=True, slots=True)
class CurvatureBits:
    """Bits: how a number that depends on the variables curves, its sign, and how the logarithm of its absolute value curves. Has
    it a convex root, as a sum of squares of linear functions?"""

    curve: int = 0
    sign: int = 0
    logarithm: int = 0
    constant: bool = False
    root: bool = False


@step("curvature", lambda rows, lo, hi, in_logarithms=False: None)
def curvatures(rows: tuple[Expr, ...], lo: np.ndarray, hi: np.ndarray, in_logarithms: bool = False) -> list[np.ndarray] | None:
    """For each element of each row, the bits CONVEX and CONCAVE on the box [lo, hi], on all of which the rows must be defined.

    With `in_logarithms` they are those of the function of log x; lo must be positive then. None if there are too many operations.

    >>> from infimum.expr.build import build, index
    >>> from infimum.expr.node import var
    >>> x = var("x", (2,))
    >>> row = build("div", index(x, 0), index(x, 1)),
    >>> [[int(curvatures(row, np.ones(2), np.full(2, 9.0), logs)[0]) for logs in (False, True)], CONVEX]
    [[0, 1], 1]
    """
    forms = curvature_forms(rows, lo, hi, in_logarithms)
    curve = np.frompyfunc(lambda form: form.curve, 1, 1)
    return None if forms is None else [np.asarray(curve(form)).astype(int) for form in forms]


def curvature_forms(rows: tuple[Expr, ...], lo: np.ndarray, hi: np.ndarray,
                    in_logarithms: bool = False) -> list[np.ndarray] | None:
    """For each element of each row all that is known of how it curves: see `curvatures`."""
    nodes = list(topological(rows))
    if sum(node.size for node in nodes) > POLICY.curvature_elements:
        return None
    forms: dict[Expr, np.ndarray] = {}
    for node in nodes:
        found = np.empty(node.shape, object)
        found[...] = _forms(node, [forms[a] for a in node.args], lo, hi, in_logarithms)
        forms[node] = found
    return [forms[row] for row in rows]


def is_convex_but_whole(system: System, lo: np.ndarray, hi: np.ndarray) -> bool:
    """Are there whole numbers beside others, is f convex on the box, and are the points that obey each side of a constraint a
    convex set, as formulas tell? With whole numbers fixed linear programs with tangents come as near as one likes then. This
    steers a search: nobody asks whether everything is defined there.

    >>> from infimum.trace.trace import trace
    >>> f, area = (trace(g, 2) for g in (lambda x: x[0] + x[1], lambda x: x[:1] * x[1:]))
    >>> systems = [System(f, (area,), *map(np.array, ends), (0,)) for ends in (([4.0], [np.inf]), ([0.0], [4.0]))]
    >>> [is_convex_but_whole(system, np.ones(2), np.full(2, 9.0)) for system in systems]
    [True, False]
    """
    if not 0 < len(system.integers) < len(lo):
        return False
    forms = curvature_forms((system.f, *system.bodies), lo, hi)
    if forms is None or not forms[0].item().curve & CONVEX:
        return False
    elements = [form for part in forms[1:] for form in part.ravel()]
    return all(form.curve == LINEAR if lower == upper else all(
        np.isinf(end) or is_convex_side(form, side, end) for side, end in ((False, lower), (True, upper)))
        for form, lower, upper in zip(elements, system.lower, system.upper, strict=True))


def _forms(node: Expr, args: list[np.ndarray], lo: np.ndarray, hi: np.ndarray, in_logarithms: bool) -> np.ndarray:
    if node.op == "var":
        if in_logarithms:
            return np.frompyfunc(lambda low: _closed(0, _POSITIVE, LINEAR) if low > 0 else CurvatureBits(), 1, 1)(lo)
        return np.frompyfunc(lambda low, high: _closed(LINEAR, _sign(low, high), 0), 2, 1)(lo, hi)
    if node.op == "const":
        return np.frompyfunc(lambda low, high: _closed(LINEAR, _sign(low, high), 0, True), 2, 1)(node.lo, node.hi)
    if node.op in VIEWS:
        return VIEWS[node.op](node, *args)
    if node.kind is Kind.REDUCE:
        kept = [axis for axis in range(args[0].ndim) if axis not in node["axes"]]
        lines = np.transpose(args[0], [*kept, *node["axes"]]).reshape(*node.shape, -1)
        found = np.empty(node.shape, object)
        for at in np.ndindex(*node.shape):
            found[at] = _reduced(node.op, list(lines[at]))
        return found
    if node.op == "powi":
        return np.frompyfunc(lambda x: _power(x, node["k"], node["k"], node["k"] % 2 == 0), 1, 1)(args[0])
    if node.op == "pow" and node.args[1].op == "const":
        return np.frompyfunc(_constant_power, 3, 1)(args[0], node.args[1].lo, node.args[1].hi)
    if node.kind not in (Kind.MAP, Kind.TEST):  # an element may depend on any element of the arguments
        return np.full(node.shape, CurvatureBits(), object)
    return np.frompyfunc(_RULES.get(node.op) or _composed(node.op), len(args), 1)(*args)


def _sign(low: float, high: float) -> int:
    return _NOT_NEGATIVE * (low >= 0) | _NOT_POSITIVE * (high <= 0) | _NOT_ZERO * (low > 0 or high < 0)


@cache
def _closed(curve: int, sign: int, logarithm: int, constant: bool = False, root: bool = False) -> CurvatureBits:
    """With all that follows: a constant is linear, and so is its logarithm; what has a convex logarithm is convex, and what is
    concave and positive has a concave one."""
    if not (sign & _NOT_ZERO and sign & (_NOT_NEGATIVE | _NOT_POSITIVE)):
        return CurvatureBits(LINEAR if constant else curve, sign, 0, constant, root or (constant and sign & _NOT_NEGATIVE > 0))
    if constant:
        return CurvatureBits(LINEAR, sign, LINEAR, True, sign & _NOT_NEGATIVE > 0)
    if logarithm & CONVEX:
        curve |= CONVEX if sign & _NOT_NEGATIVE else CONCAVE
    if curve & (CONCAVE if sign & _NOT_NEGATIVE else CONVEX):
        logarithm |= CONCAVE
    return CurvatureBits(curve, sign, logarithm, False, root)


def _flipped(bits: int) -> int:
    """Of -x: the two lowest bits change places."""
    return bits & ~3 | (bits & 1) << 1 | (bits & 2) >> 1


def is_convex_side(form: CurvatureBits, upper: bool, end: float) -> bool:
    """Is the set convex where a function with this form is at most (`upper`) or at least a number? So is that where a positive
    function with a concave logarithm is at least a number; where that is not positive, it is everything."""
    if upper:
        return form.curve & CONVEX > 0
    positive = form.sign & _NOT_NEGATIVE > 0
    return form.curve & CONCAVE > 0 or (positive and (form.logarithm & CONCAVE > 0 or end <= 0))


def _taken(x: CurvatureBits, sign: int) -> CurvatureBits:
    """With a sign that it must have for something to be defined."""
    return _closed(x.curve, x.sign | sign, x.logarithm, x.constant, x.root)


# ---- sums and products
def _neg(x: CurvatureBits) -> CurvatureBits:
    return _closed(_flipped(x.curve), _flipped(x.sign), x.logarithm, x.constant)


def _add(x: CurvatureBits, y: CurvatureBits) -> CurvatureBits:
    sign = x.sign & y.sign & 3
    sign |= (x.sign | y.sign) & _NOT_ZERO if sign else 0
    return _closed(x.curve & y.curve, sign, x.logarithm & y.logarithm & CONVEX, x.constant and y.constant, x.root and y.root)


def _sub(x: CurvatureBits, y: CurvatureBits) -> CurvatureBits:
    return _add(x, _neg(y))


def _signs(x: int, y: int) -> int:
    """Of a product."""
    found = x & y & _NOT_ZERO
    if x & 3 and y & 3:
        found |= _NOT_NEGATIVE if x & y & 3 else _NOT_POSITIVE
    return found


def _scaled(curve: int, by: int) -> int:
    """A curve times a constant of this sign."""
    if by & _NOT_NEGATIVE:
        return curve
    return _flipped(curve) if by & _NOT_POSITIVE or curve == LINEAR else 0


def _mul(x: CurvatureBits, y: CurvatureBits) -> CurvatureBits:
    curve = _scaled(y.curve, x.sign) if x.constant else _scaled(x.curve, y.sign) if y.constant else 0
    root = x.root and y.root and (x.constant or y.constant)
    return _closed(curve, _signs(x.sign, y.sign), x.logarithm & y.logarithm, x.constant and y.constant, root)


def _div(x: CurvatureBits, y: CurvatureBits) -> CurvatureBits:
    y = _taken(y, _NOT_ZERO)
    curve = _scaled(x.curve, y.sign) if y.constant else 0
    root = x.root and y.constant and y.sign & _NOT_NEGATIVE > 0
    return _closed(curve, _signs(x.sign, y.sign), x.logarithm & _flipped(y.logarithm), x.constant and y.constant, root)


# ---- powers
def _power(x: CurvatureBits, low: float, high: float, even: bool = False) -> CurvatureBits:
    """x**p for a p between low and high: a whole number, or x is not negative."""
    if low <= 0 <= high:
        return _closed(0, 0, 0, x.constant)
    x = x if low > 0 else _taken(x, _NOT_ZERO)
    curve, sign = 0, x.sign & _NOT_ZERO | _NOT_NEGATIVE if even else x.sign
    size = x if x.sign & _NOT_NEGATIVE else _neg(x) if x.sign & _NOT_POSITIVE else None
    if low == high == 1:
        curve = x.curve
    elif even and low >= 2 and x.curve == LINEAR:
        curve = CONVEX
    elif size is not None and low >= 1:
        curve = size.curve & CONVEX
    elif size is not None and low > 0 and high <= 1:
        curve = size.curve & CONCAVE
    if size is not x and not even and not low == high == 1:
        curve = _flipped(curve)
    root = even and low >= 2 and curve & CONVEX > 0  # |x|**(p/2) is linear or convex, and not negative
    return _closed(curve, sign, x.logarithm if low > 0 else _flipped(x.logarithm), x.constant, root)


def _constant_power(x: CurvatureBits, low: float, high: float) -> CurvatureBits:
    """x**p where that is known to be defined: of another p than a known whole number it is for x >= 0 alone."""
    whole = low == high == np.floor(low)
    return _power(x, low, high, low % 2 == 0) if whole else _power(_taken(x, _NOT_NEGATIVE), low, high)


def _sqrt(x: CurvatureBits) -> CurvatureBits:
    found = _power(_taken(x, _NOT_NEGATIVE), 0.5, 0.5)
    return _closed(found.curve | x.root * CONVEX, found.sign, found.logarithm, found.constant)


def _cbrt(x: CurvatureBits) -> CurvatureBits:
    return _power(x, 1 / 3, 1 / 3) if x.sign & 3 else _closed(0, 0, 0, x.constant)


def _abs(x: CurvatureBits) -> CurvatureBits:
    size = x if x.sign & _NOT_NEGATIVE else _neg(x)
    curve = size.curve if x.sign & 3 else CONVEX if x.curve == LINEAR else 0
    return _closed(curve, x.sign & _NOT_ZERO | _NOT_NEGATIVE, x.logarithm, x.constant)


# ---- exponentials, logarithms
def _exp(x: CurvatureBits) -> CurvatureBits:
    return _closed(0, _POSITIVE, x.curve, x.constant)


def _log(x: CurvatureBits) -> CurvatureBits:
    return _closed(_taken(x, _POSITIVE).logarithm, 0, 0, x.constant)


@cache
def _composed(op: str) -> Callable[..., CurvatureBits]:
    """By the record: a convex function of linear arguments is convex, and of convex ones if it increases. So for concave ones."""
    row = OPS[op]
    own, sign = {1: CONVEX, -1: CONCAVE}.get(row.curvature, 0), _POSITIVE if row.least == 1 else 0

    def rule(*forms: CurvatureBits) -> CurvatureBits:
        curve = reduce(int.__and__, (form.curve for form in forms))
        kept = own if row.increasing or curve == LINEAR else 0
        return _closed(curve & kept, sign, 0, all(form.constant for form in forms))
    return rule


# ---- the larger, the smaller
def _max(x: CurvatureBits, y: CurvatureBits) -> CurvatureBits:
    sign = (x.sign | y.sign) & _NOT_NEGATIVE | x.sign & y.sign & _NOT_POSITIVE
    if _POSITIVE in (x.sign & _POSITIVE, y.sign & _POSITIVE) or x.sign & y.sign & _NEGATIVE == _NEGATIVE:
        sign |= _NOT_ZERO
    positive = x.sign & y.sign & _POSITIVE == _POSITIVE
    logarithm = x.logarithm & y.logarithm & CONVEX if positive else 0
    return _closed(x.curve & y.curve & CONVEX, sign, logarithm, x.constant and y.constant)


def _min(x: CurvatureBits, y: CurvatureBits) -> CurvatureBits:
    return _neg(_max(_neg(x), _neg(y)))


def _root_of_squares(*forms: CurvatureBits) -> CurvatureBits:
    """The norm of functions that are linear, or convex and not negative."""
    fit = all(form.curve == LINEAR or (form.curve & CONVEX and form.sign & _NOT_NEGATIVE) for form in forms)
    sign = _NOT_NEGATIVE | max(form.sign & _NOT_ZERO for form in forms)
    return _closed(CONVEX if fit else 0, sign, 0, all(form.constant for form in forms))


_RULES: dict[str, Callable[..., CurvatureBits]] = {
    "neg": _neg, "add": _add, "sub": _sub, "mul": _mul, "div": _div, "sqrt": _sqrt, "cbrt": _cbrt, "abs": _abs,
    "exp": _exp, "exp2": _exp, "log": _log, "log2": _log, "log10": _log,
    "max": _max, "min": _min, "hypot": _root_of_squares,
}


def _reduced(op: str, forms: list[CurvatureBits]) -> CurvatureBits:
    if not forms:
        return CurvatureBits()
    return _root_of_squares(*forms) if op == "norm" else reduce(_RULES[OPS[op].of_two], forms)
