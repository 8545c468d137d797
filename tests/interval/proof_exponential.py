"""Bounds behind the constants of infimum.interval.elementary.exponential, computed again from its own code.

The reduction gives r and low with r + low off by at most REDUCED*|r| + 2**-152 for 2**-45 <= |r| (its docstring); `…_need` return
what a constant must at least be over all such r of both signs. Smaller r, k not 0: exp is checked at every such double
(`near_multiples`), the others have REDUCTION_EPS. Smaller r, k = 0: then low = 0; below 2**-60 exp is between
1 and a neighbour of 1, on the side of r, and so are its bounds, for the tail is less than r; expm1 has its own bounds there. In
base two BASE_TWO_EPS counts the roundings of low, so that the need for low = 0 is that of every smaller r.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np
from flint import arb, ctx
from proof_trigonometric import WIDER, Analyst, Cell, approximation_error, step

from infimum.interval.elementary import exponential as code

REDUCED = 2.0**-103     # two roundings of low, each at most 2**-52 of an ulp of r, and some room
LOW = 2.0**-52          # |low| <= LOW*|r|: an ulp of r
LOW_BASE_TWO = 3 * LOW  # and the ulps of the product with ln 2, of its low part and of the exponent's
LEAST = 2.0**-45
U = 2.0**-52


class Counter(Analyst):
    """Also divides, and knows that fma(x, y, -p) with p = x*y is the exact rounding error of p."""

    def __init__(self) -> None:
        self.products: dict[int, tuple] = {}
        self.kept: list[Cell] = []  # ids stay unique while the cells live

    def _note(self, cell: Cell, factors: tuple) -> Cell:
        self.products[id(cell)] = factors
        self.kept.append(cell)
        return cell

    def mul(self, x, y) -> Cell:
        return self._note(super().mul(x, y), (x, y))

    def neg(self, x) -> Cell:
        negated = super().neg(x)
        factors = self.products.get(id(x))
        return negated if factors is None else self._note(negated, ("negated", *factors))

    def fma(self, x, y, z) -> Cell:
        if self.products.get(id(z)) == ("negated", x, y):
            return Cell(-step(x.most * y.most * WIDER), 0.0)
        return super().fma(x, y, z)

    def abs(self, x) -> Cell:
        return Cell(0.0 if x.lo <= 0 <= x.hi else min(abs(x.lo), abs(x.hi)), x.most, x.err)

    def div(self, x, y) -> Cell:
        x, y = self._cell(x), self._cell(y)
        least = min(abs(y.lo), abs(y.hi)) - y.err
        assert y.lo * y.hi > 0 and least > 0
        corners = (x.lo / y.lo, x.lo / y.hi, x.hi / y.lo, x.hi / y.hi)
        largest = max(map(abs, corners))
        return self._widened(min(corners), max(corners), largest, (x.err + largest * WIDER * y.err) / least)


def approximation_errors() -> dict[str, float]:
    """The errors of SINH and COSH in z on [0, RADIUS**2]; what 40 terms leave is below the fortieth."""
    ctx.prec = 300
    top, terms = code.RADIUS**2 * WIDER, 40
    sinh, cosh = ([1 / arb(math.factorial(2 * k + n)) for k in range(terms)] for n in (3, 4))
    left = arb(1) / math.factorial(2 * terms)
    return {"sinh": approximation_error(sinh, left, code.SINH, top), "cosh": approximation_error(cosh, left, code.COSH, top)}


def both_signs(least: float, ratio: float = 1.03) -> Iterator[tuple[float, float, float]]:
    """Cells of r with |r| >= least, the largest |r| last."""
    b = code.RADIUS
    while b > least:
        a = b / ratio
        yield a, b, b
        yield -b, -a, b
        b = a


def _need(error: Callable[[float, float, float], float], power: int, least: float = LEAST) -> float:
    return max(max(error(a, b, most), 0.0) * WIDER / min(abs(a), abs(b)) ** power for a, b, most in both_signs(least))


def quadratic_need(low: float = LOW, least: float = LEAST) -> float:
    """The least QUADRATIC_EPS: |quadratic_tail - (exp(r + low) - 1 - r)| of r*r, for |low| <= (a multiple) * |r|.

    exp(r + low) = exp(r)*(1 + low + …): left out are low*(exp(r) - 1 - r), below 0.56*low*r*r, and low*low.
    """
    def error(a, b, most):
        tail = code.quadratic_tail(Counter(), Cell(a, b), Cell(-low * most, low * most), 0.5 + code.QUADRATIC_EPS)
        model = most**3 * code.SINH_ERROR + most**4 * code.COSH_ERROR + 0.56 * low * most**3 + (low * most) ** 2
        return tail.err + model + (REDUCED * most + 2.0**-152 if low == LOW else 0.0)
    return _need(error, 2, least)


# Where k = 0, low is 0 and REDUCTION_EPS counts |head| >= 0.7 |r|; elsewhere it counts |k| >= 1, and low is off by 2**-97.
CASES = {"k = 0": (0.0, 2.0**-60, lambda most: code.REDUCTION_EPS * most * 0.6),
         "k != 0": (LOW, LEAST, lambda most: code.REDUCTION_EPS - 2.0**-97),
         # logistic: the argument has a low part of its own; smaller r than LEAST leave less than its SLACK of 2**-90
         "in two parts": (3 * LOW, LEAST, lambda most: 2.0**-90 - 2.0**-95)}


def cubic_need(case: str) -> float:
    """The least CUBIC_EPS: |c + t - (exp(r + low) - 1 - r)| of |r|**3, with one more rounding where t is added up."""
    low, least, covered = CASES[case]

    def error(a, b, most):
        _, t, _ = code.cubic_tail(Counter(), Cell(a, b), Cell(-low * most, low * most))
        model = most**3 * code.SINH_ERROR + most**4 * code.COSH_ERROR + 0.56 * low * most**3 + (low * most) ** 2
        return t.err + model + U * t.most + 4 * U * U * most - covered(most)
    return _need(error, 3, least)


def hyperbolic_need(odd: bool, multiple: int) -> float:
    """The least HYPERBOLIC_EPS, of |r|**3: the errors of s and c times their factors, and two roundings of the sum.

    `multiple` is k, from 0; for large k the factors tend to 1. What is added to the products is below 4*2**-52*(|r| + w),
    its own roundings (six) are counted as 64*2**-104.
    """
    low, least, covered = CASES["k != 0" if multiple else "k = 0"]
    w = 4.0**-multiple
    even, uneven = (1 - w, 1 + w) if odd else (1 + w, 1 - w)

    def error(a, b, most):
        _, s, c = code.hyperbolic_tails(Counter(), Cell(a, b), Cell(-low * most, low * most))
        sine = s.err + most**3 * code.SINH_ERROR + low * most**5 / 20 + (low * most) ** 2
        cosine = c.err + most**4 * code.COSH_ERROR + low * most**4 / 5 + (low * most) ** 2
        rounded = U * (2 * even * c.most + uneven * s.most) + 64 * U * U * (1.0 if multiple else most)
        return even * cosine + uneven * sine + rounded - covered(most)
    return _need(error, 3, least)


def near_multiples() -> np.ndarray:
    """Every double within 2**-44 of a multiple k*ln 2, k not 0, that exp does not clamp: all with |r| < 2**-45, and more."""
    ctx.prec = 200
    ln2, found = arb(2).log(), []
    for k in range(-1076, 1025):
        if k:
            middle = float(ln2 * k)
            count = int(2.0**-44 / math.ulp(middle)) + 2
            found.append(middle + np.arange(-count, count + 1) * math.ulp(middle))
    return np.concatenate(found)
