"""The least value of a sum of two powers, such as that of Lennard-Jones.

Proof: docs/proofs/poles_and_edges.md.
"""

from fractions import Fraction

from infimum.expr.build import broadcast, build
from infimum.expr.node import Expr
from infimum.expr.rationals import between_doubles
from infimum.expr.signs import sign_of


def rational(q: Fraction, shape: tuple[int, ...]) -> Expr:
    """A constant: the double, or the neighbours around it."""
    return broadcast(between_doubles([q], ()), shape)


def least_of_two_powers(p: Fraction, a: Expr, q: Fraction, b: Expr, nonnegative: bool) -> Expr | None:
    """A lower bound of a t**p + b t**q for p < q and constants with a p < 0 < b q: the least value over t > 0. `nonnegative`: t
    is known to be so.

    The derivative is t**(p - 1) times a p + b q t**(q - p), which rises with t from a negative number to infinity: so the sum
    falls up to a point s with s**(q - p) = -a p / (b q) and rises from there, and its value at s is a s**p (1 - p / q). At t = 0
    it is defined only if p > 0, and is the limit there. For t < 0 see `_holds_below_0`.
    """
    if not sign_of(a) * p < 0 < sign_of(b) * q:
        return None
    if not (nonnegative or p.denominator * q.denominator > 1 or _holds_below_0(p, q, sign_of(a))):
        return None
    base = build("div", build("mul", rational(-p / q, a.shape), a), b)
    return build("mul", build("mul", rational(1 - p / q, a.shape), a), build("pow", base, rational(p / (q - p), a.shape)))


def _holds_below_0(p: Fraction, q: Fraction, sign: int) -> bool:
    """Is it a lower bound for t < 0 too? For even powers, and where both terms are positive there and the bound is negative."""
    return p % 2 == 0 and (q % 2 == 0 or (sign > 0 and q < 0))
