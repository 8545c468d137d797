"""What the terms of an expression near a zero of its base t are told apart by: t**p log(t)**m exp(g).

The exponent g is itself a sum of constants times t**p log(t)**m, each of which is unbounded at 0; it is empty in most terms.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import cmp_to_key
from typing import NamedTuple

from infimum.expr.build import build, is_zero
from infimum.expr.node import Expr, const
from infimum.expr.signs import sign_of

Exponent = tuple[tuple[tuple[Fraction, int], Expr], ...]  # ((p, m), constant), by p, then m


class Power(NamedTuple):
    """t**p log(t)**m exp(g)."""

    p: Fraction = Fraction(0)
    m: int = 0
    g: Exponent = ()

    @property
    def singular(self) -> bool:
        """Is it possibly unbounded or undefined at 0?"""
        return self.p < 0 or self.m > 0 or bool(self.g)

    @property
    def calm(self) -> bool:
        """Is it bounded near 0, for t > 0?"""
        return growth(self.g) < 0 if self.g else self.p > 0 or (self.p == 0 and not self.m)

    def times(self, other: "Power") -> "Power":
        return Power(self.p + other.p, self.m + other.m, plus(self.g, other.g))

    def over(self, p: Fraction, g: Exponent) -> "Power":
        """Divided by t**p exp(g)."""
        return Power(self.p - p, self.m, plus(self.g, g, "sub"))


Terms = dict[Power, Expr]  # the coefficient of each


def plus(g: Exponent, h: Exponent, op: str = "add") -> Exponent:
    """The sum or difference of two exponents. A constant that is not seen to vanish stays."""
    total = dict(g)
    for key, c in h:
        total[key] = build(op, total[key], c) if key in total else build("neg", c) if op == "sub" else c
    return exponent(total.items())


def scaled(g: Exponent, k: int) -> Exponent:
    return exponent((key, build("mul", const(float(k)), c)) for key, c in g)


def exponent(items: Iterable[tuple[tuple[Fraction, int], Expr]]) -> Exponent:
    return tuple(sorted(((key, c) for key, c in items if not is_zero(c)), key=lambda item: item[0]))


def growth(g: Exponent) -> int:
    """Where g goes as t falls to 0: 1 to infinity, -1 to minus infinity, 0 unknown or nowhere."""
    if not g:
        return 0
    (_, m), c = min(g, key=lambda item: (item[0][0], -item[0][1]))
    return sign_of(c) * (-1) ** m


def largest(exponents: Iterable[Exponent]) -> Exponent:
    """The one that grows most, the first of equals; it is only a matter of taste where that is unknown."""
    return max(exponents, key=cmp_to_key(lambda g, h: growth(plus(g, h, "sub"))))
